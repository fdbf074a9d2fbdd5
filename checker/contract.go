package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Contract says that calls return in time, and what they return is true.
const Contract Property = "contract"

// contract judges what any lock owes its callers: calls return within their
// bound, a grant and an extension have time left and are for a time that can be,
// what has been released is extended no more, extend and release tell the truth,
// and nobody deletes the key of a hold but its holder's release.
//
// The truth is found from the nodes' keys, where the history records them: an
// extension that is granted has extended keys on a quorum of the nodes; a release
// that says that the lock was still held has deleted keys on one; one that says
// that it was not has not, of the keys that were there when it was called. Only what was done for the holder itself backs its word.
//
// The time in which a client stood still, or waited in a queue to be woken, does
// not count, and the calls of a client that died are let off. A hold that nothing
// but a release ends has no validity that could be used up.
//
// Where there is a bound for it, a holder who runs learns in time that its hold is over:
// see [notice].
type contract struct {
	header   history.Header
	quorum   electorate
	state    *state
	faultLog *faultLog

	claims []claim // in this instant

	calls    int
	breaches violations
}

// claim is what a call of a holder has returned, to be held against the keys.
type claim struct {
	hold *hold
	what claimKind
	at   history.Time
	call history.Time
}

type claimKind uint8

const (
	saysExtended claimKind = iota + 1
	saysHeld               // by a release
	saysLost               // by a release
)

func newContract(h history.Header, l *state, n *faultLog) propertyChecker {
	return &contract{header: h, quorum: electorateOf(h), state: l, faultLog: n}
}

// truthful reports whether the history tells enough to judge what calls say.
func (c *contract) truthful() bool { return c.header.Keys && !c.quorum.None() }

func (c *contract) wants() kinds {
	k := kindSet(history.Granted, reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released, history.KeyGone, history.End)
	if c.header.Bounds.Notice > 0 {
		k |= learning
	}
	return k
}

func (c *contract) observe(f *fact) {
	b := &c.header.Bounds
	if b.Notice > 0 {
		c.follow(f)
	}
	switch f.Kind {
	case history.Granted:
		c.returned(f, "acquire", b.Acquire)
		c.positive(f, "grant")
		c.possible(f, "grant", f.hold.ttl)
	case reentered:
		c.returned(f, "acquire", b.Acquire)
		c.positive(f, "grant")
		c.possible(f, "grant", f.try.ttl)
	case history.Refused:
		c.returned(f, "acquire", b.Acquire)
	case history.Extended:
		c.returned(f, "extend", b.Extend)
		c.positive(f, "extension")
		c.possible(f, "extension", f.extendedBy())
		c.still(f)
		c.claim(f, saysExtended)
	case history.ExtendFailed:
		c.returned(f, "extend", b.Extend)
	case history.Released:
		c.returned(f, "release", b.Release)
		switch f.Outcome {
		case history.OK:
			c.claim(f, saysHeld)
		case history.Declined:
			c.claim(f, saysLost)
		}
	case history.End:
		c.unreturned(f.Time)
	}
}

// violate reports something about a client's call, or its hold.
func (c *contract) violate(where Place, what ...Statement) {
	c.breaches.add(func() Finding {
		for i := range what {
			what[i].Resource = where.Resource
		}
		return Finding{Events: what, Meanwhile: c.meanwhile(where.From, where.To), Where: &where}
	})
}

// calling is the call that the event returns from.
func (f *fact) calling() Place {
	return Place{Resource: f.Resource, Client: f.Client, From: f.call.at, To: f.Time}
}

// place is a time of the hold.
func (h *hold) place(from, to history.Time) Place {
	return Place{Resource: h.resource.name, Client: h.client.number, From: from, To: to}
}

// meanwhile tells what was done to the world: the contract assumes nothing.
func (c *contract) meanwhile(from, to history.Time) []Statement {
	if c.faultLog.none() {
		return []Statement{{Kind: NoFault}}
	}
	if told := statementsOf(c.faultLog.between(from, to), forever, false); len(told) > 0 {
		return told
	}
	return []Statement{{Kind: NoFaultThen}}
}

// returning is what a client has called, and what it was told.
func (f *fact) returning(kind StatementKind, detail string) Statement {
	return Statement{Kind: kind, Client: f.Client, Token: f.Token, Call: f.call.at, At: f.Time, Detail: detail}
}

func (c *contract) returned(f *fact, name string, bound time.Duration) {
	c.calls++
	if bound > 0 && f.took > bound {
		slow := f.returning(CallSlow, name)
		slow.For, slow.Bound = f.took, bound
		c.violate(f.calling(), slow)
	}
}

// unreturned looks at the calls that are open when the history ends.
func (c *contract) unreturned(now history.Time) {
	b := &c.header.Bounds
	for _, who := range c.state.clients {
		if who.dead {
			continue
		}
		for _, h := range who.holds {
			if h.over {
				continue
			}
			c.open(h, h.acquire, "acquire", b.Acquire, h.queue.time(who, now), now)
			c.open(h, h.extend, "extend", b.Extend, 0, now)
			c.open(h, h.release, "release", b.Release, 0, now)
		}
	}
}

func (c *contract) open(h *hold, call call, name string, bound, queued time.Duration, now history.Time) {
	took := call.took(h.client, now) - queued
	if call.open && bound > 0 && took > bound {
		c.violate(h.place(call.at, now), Statement{Kind: CallOpen, Detail: name, Client: h.client.number, Token: h.token, Call: call.at, For: took, Bound: bound})
	}
}

// possible reports what was granted for a TTL that cannot be. The header tells the
// allowance of the longest TTL only.
func (c *contract) possible(f *fact, what string, ttl time.Duration) {
	impossible := ttl != 0 && ttl < time.Millisecond || ttl == c.header.LongestTTL && ttl != 0 && ttl <= c.header.Allowance
	if impossible {
		granted := f.returning(TTLImpossible, what)
		granted.TTL = ttl
		c.violate(f.calling(), granted)
	}
}

// extendedBy is the TTL of an extension that was granted: it is said with the call, the
// return, or both.
func (f *fact) extendedBy() time.Duration {
	if f.TTL == 0 && f.hold != nil {
		return f.hold.asked
	}
	return f.TTL
}

// still reports an extension that was called when the hold had been released.
func (c *contract) still(f *fact) {
	var released history.Time
	switch h := f.hold; {
	case f.parted != nil:
		released = f.parted.released
	case h != nil && h.letGo && f.call.at > h.release.at:
		released = h.release.at
	default:
		return
	}
	extended := f.returning(ExtendedReleased, "")
	extended.To = released
	c.violate(f.calling(), extended)
}

// positive reports validity that is not there: by what the lock says itself, or by its
// clock as it was just before the lock read it.
func (c *contract) positive(f *fact, what string) {
	got := f.returning(NoValidity, what)
	got.Validity = f.Validity
	left := time.Duration(f.Until - f.Now)
	switch {
	case f.Until == 0:
	case f.Validity <= 0:
		c.violate(f.calling(), got)
	case f.Now == 0:
	case left <= 0:
		c.violate(f.calling(), got, Statement{Kind: ValidityOver, For: -left})
	case f.Validity > left:
		c.violate(f.calling(), got, Statement{Kind: ValidityLess, For: left})
	}
}

// claim notes what a call has returned, if there are keys to hold it against.
func (c *contract) claim(f *fact, what claimKind) {
	if c.truthful() && f.hold != nil {
		c.claims = append(c.claims, claim{f.hold, what, f.Time, f.call.at})
	}
}

func (*contract) settles() kinds {
	return kindSet(history.Extended, history.Released, history.KeyGone)
}

// settle judges the claims and the deletions of the instant, now that it is clear
// who held and who had called release.
func (c *contract) settle() {
	for _, k := range c.state.changes {
		if k.kind == history.KeyGone && k.reason == history.Deleted {
			c.judgeDeletion(k)
		}
	}
	for _, claim := range c.claims {
		c.judgeClaim(claim)
	}
	c.claims = c.claims[:0]
}

// judgeDeletion reports a key that was deleted while its hold went on. Once
// release has been called, the deletion backs it.
func (c *contract) judgeDeletion(d keyChange) {
	h := d.hold
	if h.letGo || !h.returned || h.granted >= d.at || h.windows[leaseRule].over {
		return
	}
	c.violate(h.place(h.granted, d.at), Statement{Kind: KeyDeleted, Node: d.node, Token: h.token, At: d.at, Other: d.client, Client: h.client.number, From: h.granted})
}

func (c *contract) judgeClaim(k claim) {
	h := k.hold
	unbacked := Statement{Kind: Unbacked, Detail: "release", Client: h.client.number, Token: h.token, Call: k.call, At: k.at}
	backing := h.keys.deleted
	switch k.what {
	case saysExtended:
		unbacked.Detail, backing = "extend", h.keys.confirmed|h.keys.extended
	case saysLost:
		if there := h.keys.claimed & h.keys.deleted; c.quorum.has(there) {
			unbacked.Kind, unbacked.Share = ReleaseDenied, c.quorum.share(there)
			c.violate(h.place(k.call, k.at), unbacked)
		}
		return
	}
	if !c.quorum.has(backing) {
		unbacked.Share = c.quorum.share(backing)
		c.violate(h.place(k.call, k.at), unbacked)
	}
}

func (c *contract) finding(history.Time) Finding {
	switch {
	case c.breaches.count > 0:
		return c.breaches.violated()
	case c.calls == 0:
		return because(NotApplicable, Statement{Kind: NoReturn})
	}
	f := because(Holds, Statement{Kind: CallsKept, Count: c.calls})
	switch {
	case c.quorum.None():
		f.Events = append(f.Events, Statement{Kind: TruthNotJudged, Detail: string(KeepsNothing)})
	case !c.header.Keys:
		f.Events = append(f.Events, Statement{Kind: TruthNotJudged, Detail: string(NoKeys)})
	}
	return f
}
