package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Contract says that calls return in time, and what they return is true.
const Contract Property = "contract"

// contract judges what any lock owes its callers:
//   - calls return within their bound;
//   - a grant and an extension have validity left, and their TTL can be kept;
//   - a hold that was released is not extended;
//   - extend and release tell the truth;
//   - only the holder's release deletes the key of a hold.
//
// The truth is found from the nodes' keys, or a store's entries, where the history records them
// (for entries, and for keys that a watch reports, see [truth]). A
// granted extension must have extended keys on a quorum of nodes. A release that
// reports the lock as held must have deleted keys on a quorum. A release that
// reports it as lost must not have deleted a quorum of the keys that existed when
// it was called. Only changes made for the holder itself count.
//
// The time in which a client was paused, or queued, does not count. Calls of a
// client that died are not judged. A hold without a TTL has no validity.
//
// If the header states a bound for it, a running holder must learn in time that its
// hold has ended: see [lossNotice].
type contract struct {
	header   history.Header
	quorum   electorate
	state    *state
	faultLog *faultLog

	notices perHold[lossNotice]
	instead perHold[[]Statement] // other keys that were deleted for the holder since it called release
	claims  []claim              // in this instant
	truth   truth

	calls    int
	breaches violations
}

// claim is what a call returned. It is compared with the keys at the end of the instant.
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

func newContract(l *state, _ *shared) propertyChecker {
	c := &contract{header: l.header, quorum: electorateOf(l.header), state: l, faultLog: &l.faultLog}
	c.truth = newTruth(c)
	return c
}

// truthful reports whether the history records keys as they change, so that what calls return can be
// judged when they return.
func (c *contract) truthful() bool { return exactKeys(c.header) && !c.quorum.None() }

func (c *contract) wants() kinds {
	k := kindSet(history.Granted, reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released, history.KeyGone, history.End)
	if c.header.Bounds.Notice > 0 {
		k |= learning
	}
	return k | c.truth.wants()
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
		if c.truth.judges() {
			c.truth.extended(f)
		}
	case history.ExtendFailed:
		c.returned(f, "extend", b.Extend)
	case history.Released:
		c.returned(f, "release", b.Release)
		if c.truth.judges() {
			c.truth.released(f)
		}
		switch f.Outcome {
		case history.OK:
			c.claim(f, saysHeld)
		case history.Declined:
			c.claim(f, saysLost)
		}
	case history.EntryDeleted, history.EntriesSeen, history.Leader, history.KeySet, history.KeyExtended, history.KeyGone:
		if c.truth.judges() {
			c.truth.observe(f)
		}
	case history.End:
		c.unreturned(f.Time)
	}
}

// violate reports a violation by a call of a client, or by its hold.
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

// meanwhile lists the faults of a time. The contract makes no assumptions, so that no
// fault is an excuse.
func (c *contract) meanwhile(from, to history.Time) []Statement {
	if c.faultLog.none() {
		return []Statement{{Kind: NoFault}}
	}
	if told := statementsOf(c.faultLog.between(from, to), forever, false); len(told) > 0 {
		return told
	}
	return []Statement{{Kind: NoFaultThen}}
}

// returning describes the call that the event returns from.
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

// unreturned judges the calls that are open when the history ends.
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

// possible reports a grant for a TTL that cannot be kept. The header states the
// allowance for the longest TTL only.
func (c *contract) possible(f *fact, what string, ttl time.Duration) {
	impossible := ttl != 0 && ttl < time.Millisecond || ttl == c.header.LongestTTL && ttl != 0 && ttl <= c.header.Allowance
	if impossible {
		granted := f.returning(TTLImpossible, what)
		granted.TTL = ttl
		c.violate(f.calling(), granted)
	}
}

// extendedBy is the TTL of a granted extension. The call, the return or both state it.
func (f *fact) extendedBy() time.Duration {
	if f.TTL == 0 && f.hold != nil {
		return f.hold.asked
	}
	return f.TTL
}

// still reports an extension that was called after the hold was released.
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

// positive reports a grant without validity: by the lock's own figure, or by its clock
// just before the lock read it. A figure of 0 may have been left out.
func (c *contract) positive(f *fact, what string) {
	got := f.returning(NoValidity, what)
	got.Validity = f.Validity
	left := time.Duration(f.Until - f.Now)
	switch {
	case f.Until == 0:
	case f.Validity < 0:
		c.violate(f.calling(), got)
	case f.Now == 0:
	case left <= 0:
		c.violate(f.calling(), got, Statement{Kind: ValidityOver, For: -left})
	case f.Validity > left:
		c.violate(f.calling(), got, Statement{Kind: ValidityLess, For: left})
	}
}

// claim notes what a call returned, if there are keys to compare it with.
func (c *contract) claim(f *fact, what claimKind) {
	if c.truthful() && f.hold != nil {
		c.claims = append(c.claims, claim{f.hold, what, f.Time, f.call.at})
	}
}

func (*contract) settles() kinds {
	return kindSet(history.Extended, history.Released, history.KeyGone) // also for entries: see [truth]
}

// settle judges the claims and deletions of the instant. It is known now who held the
// lock and who had called release.
func (c *contract) settle() {
	for _, k := range c.state.changes {
		if k.kind == history.KeyGone && k.reason == history.Deleted {
			c.judgeDeletion(k)
			c.noteDeletion(k)
		}
	}
	for _, claim := range c.claims {
		c.judgeClaim(claim)
	}
	c.claims = c.claims[:0]
	c.truth.settle()
}

// judgeDeletion reports a key that was deleted while its hold went on. After the call
// of release a deletion is expected.
func (c *contract) judgeDeletion(d keyChange) {
	h := d.hold
	if h.letGo || !h.returned || h.granted >= d.at || h.windows[leaseWindow].over {
		return
	}
	c.violate(h.place(h.granted, d.at), Statement{Kind: KeyDeleted, Node: d.node, Token: h.token, At: d.at, Other: d.client, Client: h.client.number, From: h.granted})
}

// maxInstead is the largest number of other clients' keys in a finding that were deleted for a
// release.
const maxInstead = 3

// noteDeletion notes that a node deleted the key of one client for another, which is
// releasing. It need not be a breach by itself: the try with that key may not have returned.
func (c *contract) noteDeletion(d keyChange) {
	owner := d.hold.client
	if d.client == 0 || d.client == owner.number {
		return
	}
	for _, h := range d.about.holds {
		if h.client.number != d.client || !h.letGo || h.release.at > d.at {
			continue
		}
		if instead := c.instead.of(h); len(*instead) < maxInstead {
			*instead = append(*instead, Statement{Kind: DeletedInstead, Node: d.node, Client: d.client, Other: owner.number, Token: d.token, At: d.at})
		}
	}
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
		told := []Statement{unbacked}
		if k.what == saysHeld {
			told = append(told, *c.instead.of(h)...)
		}
		c.violate(h.place(k.call, k.at), told...)
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
	case c.truth.judges():
		f.Events = append(f.Events, c.truth.note()...)
	case c.quorum.None():
		f.Events = append(f.Events, Statement{Kind: TruthNotJudged, Detail: string(KeepsNothing)})
	case !c.header.Keys:
		f.Events = append(f.Events, Statement{Kind: TruthNotJudged, Detail: string(NoKeys)})
	}
	return f
}
