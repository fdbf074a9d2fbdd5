package checker

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// contract judges what any lock owes its callers: calls return within their
// bound, a grant has time left and is for a time that can be, a release that
// says OK has deleted the key on a majority, and nobody deletes the key of a
// hold but its holder's release.
//
// The time in which a client stood still does not count, and the calls of a
// client that died are let off.
type contract struct {
	header history.Header
	ledger *ledger

	releases []verifiable // in this instant
	deleted  []deletion   // in this instant

	calls int
	count int
	first string
}

// verifiable is a release that claims to have deleted the key.
type verifiable struct {
	hold *hold
	at   history.Time
	call history.Time
}

// deletion is a node's deletion of the key of a hold.
type deletion struct {
	hold   *hold
	node   int
	client int
	at     history.Time
}

func newContract(h history.Header, l *ledger) *contract { return &contract{header: h, ledger: l} }

func (c *contract) observe(f *fact) {
	b := &c.header.Bounds
	switch f.Kind {
	case history.Granted:
		c.returned(f, "acquire", b.Acquire)
		c.granted(f)
	case history.Refused:
		c.returned(f, "acquire", b.Acquire)
	case history.Extended:
		c.returned(f, "extend", b.Extend)
		c.positive(f, "an extension of")
	case history.ExtendFailed:
		c.returned(f, "extend", b.Extend)
	case history.Released:
		c.returned(f, "release", b.Release)
		if c.header.Keys && f.Outcome == history.OK && f.hold != nil {
			c.releases = append(c.releases, verifiable{f.hold, f.Time, f.call.at})
		}
	case history.KeyGone:
		c.keyGone(f)
	case history.End:
		c.unreturned(f.Time)
	}
}

func (c *contract) violate(format string, args ...any) {
	c.count++
	if c.first == "" {
		c.first = fmt.Sprintf(format, args...)
	}
}

func (c *contract) returned(f *fact, name string, bound time.Duration) {
	c.calls++
	if bound > 0 && f.took > bound {
		c.violate("client %d called %s of %q (token %s) at %s and it took %s to return, more than %s",
			f.Client, name, f.Resource, short(f.Token), at(f.call.at), span4(f.took), bound)
	}
}

// unreturned looks at the calls that are open when the history ends.
func (c *contract) unreturned(now history.Time) {
	b := &c.header.Bounds
	for _, who := range c.ledger.clients {
		if who.dead {
			continue
		}
		for _, h := range who.holds {
			c.open(h, h.acquire, "acquire", b.Acquire, now)
			c.open(h, h.extend, "extend", b.Extend, now)
			c.open(h, h.release, "release", b.Release, now)
		}
	}
}

func (c *contract) open(h *hold, call call, name string, bound time.Duration, now history.Time) {
	took := now.Sub(call.at) - (h.client.stood(now) - call.stood)
	if call.open && bound > 0 && took > bound {
		c.violate("client %d called %s of %q (token %s) at %s and it had not returned %s later, when the history ended; the bound is %s",
			h.client.number, name, h.resource.name, short(h.token), at(call.at), span4(took), bound)
	}
}

func (c *contract) granted(f *fact) {
	c.positive(f, "a grant of")
	ttl := f.hold.ttl
	// The header tells the allowance of the longest TTL only.
	impossible := ttl != 0 && ttl < time.Millisecond || ttl == c.header.LongestTTL && ttl != 0 && ttl <= c.header.Allowance
	if impossible {
		c.violate("client %d was granted %q (token %s) at %s for a TTL of %s, which cannot be kept and has to be refused",
			f.Client, f.Resource, short(f.Token), at(f.Time), ttl)
	}
}

func (c *contract) positive(f *fact, what string) {
	if f.Validity <= 0 {
		c.violate("client %d got %s %q (token %s) at %s with %s of validity left",
			f.Client, what, f.Resource, short(f.Token), at(f.Time), span4(f.Validity))
	}
}

// keyGone enters the deletion of the key of a hold.
func (c *contract) keyGone(f *fact) {
	if !c.header.Keys || f.Reason != "deleted" {
		return
	}
	for _, h := range c.ledger.resource(f.Resource).holds {
		if h.token == f.Token {
			c.deleted = append(c.deleted, deletion{h, f.Node, f.Client, f.Time})
		}
	}
}

// settle judges the keys that were deleted in the instant, now that it is
// clear who held and who had called release.
func (c *contract) settle() {
	for _, d := range c.deleted {
		c.judgeDeletion(d)
	}
	for _, r := range c.releases {
		c.judgeRelease(r)
	}
	c.deleted, c.releases = c.deleted[:0], c.releases[:0]
}

// judgeDeletion reports a key that was deleted while its hold went on. Once
// release has been called, the deletion backs it.
func (c *contract) judgeDeletion(d deletion) {
	h := d.hold
	if h.letGo {
		h.deleted = h.deleted.with(d.node)
		return
	}
	if !h.returned || h.granted >= d.at || h.windows[leaseRule].over {
		return
	}
	c.violate("node %d deleted the key of %q (token %s) at %s for client %d, while client %d held the lock since %s and had not called release",
		d.node, h.resource.name, short(h.token), at(d.at), d.client, h.client.number, at(h.granted))
}

func (c *contract) judgeRelease(r verifiable) {
	h := r.hold
	if !h.deleted.majorityOf(c.header.Nodes) {
		c.violate("client %d called release of %q (token %s) at %s and was told at %s that it was still held, but only %d of %d nodes deleted the key in between",
			h.client.number, h.resource.name, short(h.token), at(r.call), at(r.at), h.deleted.count(), c.header.Nodes)
	}
}

func (c *contract) finding(history.Time) Finding {
	f := Finding{Property: Contract, Count: c.count, Verdict: Violated, Story: c.first}
	if c.count == 0 {
		f.Verdict, f.Story = Holds, fmt.Sprintf("%s returned as promised", counted(c.calls, "call"))
	}
	return f
}
