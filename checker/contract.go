package checker

import (
	"fmt"
	"slices"
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

	claims []claim // in this instant
	truth  truth

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

func newContract(h history.Header, l *state, n *faultLog) propertyChecker {
	c := &contract{header: h, quorum: electorateOf(h), state: l, faultLog: n}
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
		c.positive(f, "a grant")
		c.possible(f, "granted", f.hold.ttl)
	case reentered:
		c.returned(f, "acquire", b.Acquire)
		c.positive(f, "a grant")
		c.possible(f, "granted", f.try.ttl)
	case history.Refused:
		c.returned(f, "acquire", b.Acquire)
	case history.Extended:
		c.returned(f, "extend", b.Extend)
		c.positive(f, "an extension")
		c.possible(f, "granted an extension of", f.extendedBy())
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

// Duty is a part of the contract.
type Duty string

// The duties of a lock.
const (
	ReturnsInTime    Duty = "returns-in-time"     // a call returns within its bound
	GrantsValidity   Duty = "grants-validity"     // a grant and an extension have validity left
	RefusesShortTTL  Duty = "refuses-short-ttl"   // a TTL that cannot be kept is refused
	EndsWithRelease  Duty = "ends-with-release"   // a hold that was released is not extended
	TellsTheTruth    Duty = "tells-the-truth"     // extend and release return what the nodes did
	KeepsHeldKeys    Duty = "keeps-held-keys"     // only the holder's release deletes the key of a hold
	NotifiesOfTheEnd Duty = "notifies-of-the-end" // a running holder learns in time that its hold has ended
)

// violate reports a violation by a call of a client, or by its hold.
func (c *contract) violate(duty Duty, where Place, tell func() []Event) {
	c.breaches.add(func() Finding {
		faults := eventsOf(c.faultLog.between(where.From, where.To), forever, false)
		return Finding{Duty: duty, Events: append(tell(), faults...), Where: &where}
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

// returning is about the call that the event returns from.
func (f *fact) returning(role Role) Event {
	return Event{Role: role, From: f.call.at, To: f.Time, Client: f.Client, Resource: f.Resource, Token: f.Token}
}

// during is about the hold from one instant to another.
func (h *hold) during(role Role, from, to history.Time) Event {
	return Event{Role: role, From: from, To: to, Client: h.client.number, Resource: h.resource.name, Token: h.token}
}

// lock names the resource and the token of the event.
func (e Event) lock() string { return lockOf(e.Resource, e.Token) }

func (c *contract) returned(f *fact, name string, bound time.Duration) {
	c.calls++
	if bound > 0 && f.took > bound {
		c.violate(ReturnsInTime, f.calling(), func() []Event {
			e := f.returning(RoleWait)
			return []Event{e.say("client %d called %s of %s at %s and it took %s to return, more than %s", e.Client, name, e.lock(), at(e.From), span4(f.took), bound)}
		})
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
		c.violate(ReturnsInTime, h.place(call.at, now), func() []Event {
			e := h.during(RoleWait, call.at, now)
			return []Event{e.say("client %d called %s of %s at %s and it had not returned %s later, when the history ended; the bound is %s",
				e.Client, name, e.lock(), at(call.at), span4(took), bound)}
		})
	}
}

// possible reports a grant for a TTL that cannot be kept. The header states the
// allowance for the longest TTL only.
func (c *contract) possible(f *fact, what string, ttl time.Duration) {
	impossible := ttl != 0 && ttl < time.Millisecond || ttl == c.header.LongestTTL && ttl != 0 && ttl <= c.header.Allowance
	if impossible {
		c.violate(RefusesShortTTL, f.calling(), func() []Event {
			e := f.returning(RoleAccess)
			return []Event{e.say("client %d was %s %s at %s for a TTL of %s, which cannot be kept and has to be refused", e.Client, what, e.lock(), at(f.Time), ttl)}
		})
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
	c.violate(EndsWithRelease, f.calling(), func() []Event {
		e := f.returning(RoleAccess)
		return []Event{e.say("client %d called extend of %s at %s and was told at %s that it was extended, but had released it at %s",
			e.Client, e.lock(), at(e.From), at(e.To), at(released))}
	})
}

// positive reports a grant without validity: by the lock's own figure, or by its clock
// just before the lock read it. A figure of 0 may have been left out.
func (c *contract) positive(f *fact, what string) {
	left := time.Duration(f.Until - f.Now)
	violate := func(by func() string) {
		c.violate(GrantsValidity, f.calling(), func() []Event {
			e := f.returning(RoleAccess)
			return []Event{e.say("client %d got %s of %s at %s with %s of validity left%s", e.Client, what, e.lock(), at(f.Time), span4(f.Validity), by())}
		})
	}
	switch {
	case f.Until == 0:
	case f.Validity < 0:
		violate(func() string { return "" })
	case f.Now == 0:
	case left <= 0:
		violate(func() string {
			return fmt.Sprintf(", as the lock says; by its clock the validity had ended %s before the check of it", span4(-left))
		})
	case f.Validity > left:
		violate(func() string {
			return fmt.Sprintf(", as the lock says; by its clock it was no more than %s at the check of it", span4(left))
		})
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
	if h.letGo || !h.returned || h.granted >= d.at || h.windows[leaseRule].over {
		return
	}
	c.deletedKey(h, d.node, d.client, d.at)
}

// deletedKey reports that a node, or the store (0), deleted the key of a hold that went on.
func (c *contract) deletedKey(h *hold, node, by int, when history.Time) {
	c.violate(KeepsHeldKeys, h.place(h.granted, when), func() []Event {
		e := h.during(RoleLoss, when, 0)
		e.Nodes = oneNode(node)
		what := fmt.Sprintf("node %d deleted the key of %s at %s for %s", node, e.lock(), at(when), clientOrSome(by))
		if node == 0 {
			what = fmt.Sprintf("the entry of %s was deleted by %s at %s", e.lock(), clientOrSome(by), at(when))
		}
		return []Event{e.say("%s, while client %d held the lock since %s and had not called release", what, e.Client, at(h.granted))}
	})
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
		if past := h.history(); len(past.instead) < maxInstead {
			past.instead = append(past.instead, wrongKey{d.node, d.client, owner.number, d.token, d.at})
		}
	}
}

func (c *contract) judgeClaim(k claim) {
	h := k.hold
	backing, where := h.keys.deleted, h.place(k.call, k.at)
	switch k.what {
	case saysExtended:
		backing = h.keys.confirmed | h.keys.extended
	case saysLost:
		if there := h.keys.claimed & h.keys.deleted; c.quorum.has(there) {
			c.untrue(k.what, where, h.token, func() string { return c.quorum.share(there) + " deleted the key in between" })
		}
		return
	}
	if c.quorum.has(backing) {
		return
	}
	var instead []wrongKey
	if past := h.keys.fate; past != nil && k.what == saysHeld {
		instead = past.instead
	}
	c.untrue(k.what, where, h.token, func() string { return c.quorum.unbacked(backing, k.what) }, instead...)
}

// unbacked says that only some nodes did what an extension, or a release, says.
func (e electorate) unbacked(did nodes, what claimKind) string {
	few, done := "only "+e.share(did), "deleted"
	if did&e.voters() == 0 {
		few = "no node"
	}
	if what == saysExtended {
		done = "extended"
	}
	return fmt.Sprintf("%s %s the key in between", few, done)
}

// untrue reports a call that did not return the truth; but says what happened, and instead are the
// keys that were deleted in place of the holder's.
func (c *contract) untrue(what claimKind, where Place, token string, but func() string, instead ...wrongKey) {
	c.violate(TellsTheTruth, where, func() []Event {
		call, told := "release", "that it was still held"
		switch what {
		case saysExtended:
			call, told = "extend", "that it was extended"
		case saysLost:
			told = "that it was held no more"
		}
		e := Event{Role: RoleAccess, From: where.From, To: where.To, Client: where.Client, Resource: where.Resource, Token: token}
		events := []Event{e.say("client %d called %s of %s at %s and was told at %s %s, but %s", e.Client, call, e.lock(), at(e.From), at(e.To), told, but())}
		for _, k := range instead {
			events = append(events, k.event("instead, a request of client %d deleted client %d's key (token %s) on node %d at %s"))
		}
		return events
	})
}

func (c *contract) finding(history.Time) Finding {
	switch {
	case c.breaches.count > 0:
		return c.withoutFault(c.breaches.violated())
	case c.calls == 0:
		return notExercised(NotApplicable, "no call returned")
	}
	f := because(Holds, Event{Role: RoleAccess}.say("%s returned as promised", counted(c.calls, "call")))
	why := ""
	switch {
	case c.truth.judges():
		why = c.truth.unjudgedBecause()
	case c.quorum.None():
		why = "whether extend and release told the truth was not judged: " + keepsNothing
	case !c.header.Keys:
		why = "whether extend and release told the truth was not judged, for want of the nodes' keys"
	}
	if why != "" {
		f.Events = append(f.Events, Event{Role: RoleUnseen, Text: why})
	}
	return f
}

// withoutFault says of a violation that no fault went on meanwhile, if so. The contract makes no
// assumptions, so that no fault is an excuse.
func (c *contract) withoutFault(f Finding) Finding {
	told := slices.ContainsFunc(f.Events, func(e Event) bool { return e.Role == RoleFault })
	none := Event{Role: RoleFault, From: f.Where.From, To: f.Where.To}
	switch {
	case told || c.faultLog.none() && len(f.Causes) > 0: // a cause says so
	case c.faultLog.none():
		f.Events = append(f.Events, none.say("no fault took place"))
	default:
		f.Events = append(f.Events, none.say("no fault went on meanwhile"))
	}
	return f
}
