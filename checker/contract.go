package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Contract says that calls return in time, and what they return is true.
const Contract Property = "contract"

// contract judges what any lock owes its callers:
//   - calls return within their bound, and soon after their context has ended;
//   - a grant and an extension have validity left, and their TTL can be kept;
//   - a hold that was released is not extended;
//   - no hold has the key of another resource;
//   - extend and release tell the truth;
//   - only the holder's release deletes the key of a hold.
//
// The truth is found from the nodes' keys, or a store's entries, where the history records them
// (for entries, and for keys that a watch reports, see [truth]). A
// granted extension must have extended keys on a quorum of nodes. A release that
// reports the lock as held must have deleted keys on a quorum. A release that
// reports it as lost must not have deleted a quorum of the keys that existed when
// it was called, nor left a quorum of them where its client reaches them, unless
// the hold had ended by itself. Only changes made for the holder itself count.
//
// The time in which a client was paused, or queued, does not count. Calls of a
// client that died are not judged. A hold without a TTL has no validity.
//
// If the header states bounds for it, a running holder must learn in time that its hold has ended, see
// [lossNotice], and no slow node holds up a release or an extension, see [upkeep].
type contract struct {
	header   history.Header
	quorum   timeline.Electorate
	timeline *timeline.Timeline

	// exact: the history records keys as they change, so that what calls return can be judged when they return.
	exact bool

	noticeBound time.Duration // of a hold without an end, and of any other if Notice is stated

	notices     timeline.PerHold[lossNotice]
	instead     timeline.PerHold[[]timeline.WrongKey] // other keys that were deleted for the holder since it called release
	claims      []claim                               // in this instant
	lateReturns []lateReturn                          // in this instant
	effective   timeline.PerHold[untoldExtension]
	truth       truth
	upkeep      upkeep

	calls    int
	breaches violations
}

// claim is what a call returned. It is compared with the keys at the end of the instant.
type claim struct {
	hold *timeline.Hold
	what claimKind
	at   history.Time
	call history.Time
	why  string // of an error
}

type claimKind uint8

const (
	saysExtended claimKind = iota + 1
	saysFailed             // by an extension
	saysHeld               // by a release
	saysLost               // by a release
)

// untoldExtension is an extension that has failed although a quorum of the nodes has extended the key.
type untoldExtension struct {
	call, failed history.Time
	reason       string
	nodes        timeline.Nodes
}

func newContract(line *timeline.Timeline, _ *shared) propertyChecker {
	c := &contract{header: line.Header, quorum: timeline.ElectorateOf(line.Header), timeline: line}
	c.exact = timeline.ExactKeys(c.header)
	c.noticeBound = cmp.Or(c.header.Bounds.Notice, c.header.Bounds.Loss)
	c.truth, c.upkeep = newTruth(c), upkeep{contract: c}
	return c
}

func (c *contract) Wants() timeline.Kinds {
	k := timeline.KindSet(history.Granted, timeline.Reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released, history.End)
	if c.noticeBound > 0 {
		k |= learning
	}
	if c.header.Bounds.Renew > 0 {
		k |= renewing
	}
	return k | c.truth.Wants()
}

func (c *contract) Observe(f *timeline.Fact) {
	b := &c.header.Bounds
	if c.noticeBound > 0 {
		c.follow(f)
	}
	if b.Renew > 0 {
		c.upkeep.follow(f)
	}
	switch f.Kind {
	case history.Granted:
		c.returned(f, "acquire", b.Acquire)
		c.positive(f, "a grant")
		c.possible(f, "granted", f.Hold.TTL)
	case timeline.Reentered:
		c.returned(f, "acquire", b.Acquire)
		c.positive(f, "a grant")
		c.possible(f, "granted", f.Try.TTL)
	case history.Refused:
		c.returned(f, "acquire", b.Acquire)
	case history.Extended:
		c.returned(f, "extend", b.Extend)
		c.positive(f, "an extension")
		c.possible(f, "granted an extension of", extendedBy(f))
		c.still(f)
		c.claim(f, saysExtended)
		if c.truth.judges() {
			c.truth.extended(f)
		}
	case history.ExtendFailed:
		c.returned(f, "extend", b.Extend)
		c.claim(f, saysFailed)
	case history.Released:
		c.returned(f, "release", b.Release)
		c.upkeep.released(f)
		if f.Name != "" {
			c.sharedKey(f)
		}
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
			c.truth.Observe(f)
		}
	case history.End:
		c.unreturned(f.Time)
	}
}

// The duties of the contract.
const (
	ReturnsInTime    Duty = "returns-in-time"     // a call returns within its bound
	EndsWithContext  Duty = "ends-with-context"   // a call returns soon after its context has ended
	GrantsValidity   Duty = "grants-validity"     // a grant and an extension have validity left
	RefusesShortTTL  Duty = "refuses-short-ttl"   // a TTL that cannot be kept is refused
	EndsWithRelease  Duty = "ends-with-release"   // a hold that was released is not extended
	TellsTheTruth    Duty = "tells-the-truth"     // extend and release return what the nodes did
	SeparatesNames   Duty = "separates-names"     // resources of different names have different keys
	KeepsHeldKeys    Duty = "keeps-held-keys"     // only the holder's requests delete or extend the key of a hold
	RenewsHolds      Duty = "renews-holds"        // a lock that extends its holds by itself goes on to do so
	NotifiesOfTheEnd Duty = "notifies-of-the-end" // a running holder learns in time that its hold has ended
)

// violate reports a violation by a call of a client, or by its hold. A call that was cancelled before is over.
func (c *contract) violate(duty Duty, where Place, tell func() []Event, causes ...func() Cause) {
	c.breaches.add(func() Finding {
		faults := slices.DeleteFunc(c.timeline.Faults.Between(where.From, where.To), func(v timeline.Fault) bool {
			return v.From < where.From && v.Kind.Does(nemesis.CancelsCall)
		})
		f := Finding{Duty: duty, Events: append(tell(), eventsOf(faults, timeline.Forever, false)...), Where: &where}
		for _, cause := range causes {
			f.Causes = append(f.Causes, cause())
		}
		return f
	})
}

// doneBy returns the cause that a request of one client did something, such as "deleted", to the key of another; owner 0:
// of the hold that is reported.
func doneBy(client int, done string, node int, when history.Time, owner int) func() Cause {
	return func() Cause {
		e := Event{Role: RoleLoss, From: when, Client: client, Nodes: oneNode(node)}
		if owner == 0 {
			e = e.say("a request of client %d %s it", client, done)
		} else {
			e = e.say("a request of client %d %s client %d's", client, done, owner)
		}
		return Cause{Assumption: OnlyHolder, Evidence: []Event{e}}
	}
}

// calling is the call that the event returns from.
func calling(f *timeline.Fact) Place {
	return Place{Resource: f.Resource, Client: f.Client, From: f.Call.At, To: f.Time}
}

// place is a time of the hold.
func placeOfHold(h *timeline.Hold, from, to history.Time) Place {
	return Place{Resource: h.Resource.Name, Client: h.Client.Number, From: from, To: to}
}

// returning is about the call that the event returns from.
func returning(f *timeline.Fact, role Role) Event {
	return Event{Role: role, From: f.Call.At, To: f.Time, Client: f.Client, Resource: f.Resource, Token: f.Token}
}

// during is about the hold from one instant to another.
func during(h *timeline.Hold, role Role, from, to history.Time) Event {
	return Event{Role: role, From: from, To: to, Client: h.Client.Number, Resource: h.Resource.Name, Token: h.Token}
}

// lock names the resource and the token of the event.
func (e Event) lock() string { return lockOf(e.Resource, e.Token) }

func (c *contract) returned(f *timeline.Fact, name string, bound time.Duration) {
	c.calls++
	if bound > 0 && f.Took > bound {
		c.violate(ReturnsInTime, calling(f), func() []Event {
			e := returning(f, RoleWait)
			return []Event{e.say("client %d called %s of %s at %s and it took %s to return, more than %s", e.Client, name, e.lock(), at(e.From), textfmt.FourDigits(f.Took), bound)}
		})
	}
	if c.header.Bounds.Cancel > 0 {
		c.returnedAfterCancel(f, name)
	}
}

// lateReturn is a call that returned too long after its context had ended. It counts unless another fault took place,
// also in the instant of the return.
type lateReturn struct {
	where       Place
	name, token string
	ended       history.Time // the context
}

// returnedAfterCancel notes a call that returned too long after its context had ended.
func (c *contract) returnedAfterCancel(f *timeline.Fact, name string) {
	ended := f.Actor.ContextEnded
	if late := f.Time.Sub(ended); late > c.header.Bounds.Cancel && late < f.Took {
		c.lateReturns = append(c.lateReturns, lateReturn{calling(f), name, f.Token, ended})
	}
}

func (c *contract) judgeLateReturn(r lateReturn) {
	for _, v := range c.timeline.Faults.Between(r.where.From.Add(-c.header.LongestTTL), r.where.To) {
		if !v.Kind.Does(nemesis.CancelsCall) {
			return
		}
	}
	c.violate(EndsWithContext, r.where, func() []Event {
		e := Event{Role: RoleWait, From: r.where.From, To: r.where.To, Client: r.where.Client, Resource: r.where.Resource, Token: r.token}
		return []Event{e.say("client %d called %s of %s at %s; the context of the call ended at %s, and it returned only %s later, more than %v",
			e.Client, r.name, e.lock(), at(e.From), at(r.ended), textfmt.FourDigits(e.To.Sub(r.ended)), c.header.Bounds.Cancel)}
	})
}

// unreturned judges the calls that are open when the history ends.
func (c *contract) unreturned(now history.Time) {
	b := &c.header.Bounds
	for _, who := range c.timeline.Clients {
		if who.Dead {
			continue
		}
		for _, h := range who.Holds {
			if h.Over {
				continue
			}
			c.open(h, h.Acquire, "acquire", b.Acquire, h.Queue.Time(who, now), now)
			c.open(h, h.Extend, "extend", b.Extend, 0, now)
			c.open(h, h.Release, "release", b.Release, 0, now)
		}
	}
}

func (c *contract) open(h *timeline.Hold, call timeline.Call, name string, bound, queued time.Duration, now history.Time) {
	took := call.Took(h.Client, now) - queued
	if call.Open && bound > 0 && took > bound {
		c.violate(ReturnsInTime, placeOfHold(h, call.At, now), func() []Event {
			e := during(h, RoleWait, call.At, now)
			return []Event{e.say("client %d called %s of %s at %s and it had not returned %s later, when the history ended; the bound is %s",
				e.Client, name, e.lock(), at(call.At), textfmt.FourDigits(took), bound)}
		})
	}
}

// possible reports a grant for a TTL that cannot be kept. The header states the
// allowance for the longest TTL only.
func (c *contract) possible(f *timeline.Fact, what string, ttl time.Duration) {
	impossible := ttl != 0 && ttl < time.Millisecond || ttl == c.header.LongestTTL && ttl != 0 && ttl <= c.header.Allowance
	if impossible {
		c.violate(RefusesShortTTL, calling(f), func() []Event {
			e := returning(f, RoleAccess)
			return []Event{e.say("client %d was %s %s at %s for a TTL of %s, which cannot be kept and has to be refused", e.Client, what, e.lock(), at(f.Time), ttl)}
		})
	}
}

// sharedKey reports a hold that has the key of another resource: who holds one of the two keeps the other one locked.
func (c *contract) sharedKey(f *timeline.Fact) {
	c.violate(SeparatesNames, calling(f), func() []Event {
		e := returning(f, RoleAccess)
		return []Event{e.say("client %d's hold of %s, which it released at %s, had a key that holds of %s have, too", e.Client, e.lock(), at(f.Time), quoted(f.Name))}
	}, func() Cause {
		return Cause{Evidence: []Event{{Role: RoleAccess, Resource: f.Resource, Text: fmt.Sprintf("%s and %s share a key", quoted(f.Name), quoted(f.Resource))}}}
	})
}

// extendedBy is the TTL of a granted extension. The call, the return or both state it.
func extendedBy(f *timeline.Fact) time.Duration {
	if f.TTL == 0 && f.Hold != nil {
		return f.Hold.ExtendTTL
	}
	return f.TTL
}

// still reports an extension that was called after the hold was released.
func (c *contract) still(f *timeline.Fact) {
	var released history.Time
	switch h := f.Hold; {
	case f.Released != nil:
		released = f.Released.Released
	case h != nil && h.ReleaseCalled && f.Call.At > h.Release.At:
		released = h.Release.At
	default:
		return
	}
	c.violate(EndsWithRelease, calling(f), func() []Event {
		e := returning(f, RoleAccess)
		return []Event{e.say("client %d called extend of %s at %s and was told at %s that it was extended, but had released it at %s",
			e.Client, e.lock(), at(e.From), at(e.To), at(released))}
	})
}

// positive reports a grant without validity: by the lock's own figure, or by its clock
// just before the lock read it. A figure of 0 may have been left out.
func (c *contract) positive(f *timeline.Fact, what string) {
	left := time.Duration(f.Until - f.Now)
	violate := func(by func() string) {
		c.violate(GrantsValidity, calling(f), func() []Event {
			e := returning(f, RoleAccess)
			return []Event{e.say("client %d got %s of %s at %s with %s of validity left%s", e.Client, what, e.lock(), at(f.Time), textfmt.FourDigits(f.Validity), by())}
		})
	}
	switch {
	case f.Until == 0:
	case f.Validity < 0:
		violate(func() string { return "" })
	case f.Now == 0:
	case left <= 0:
		violate(func() string {
			return fmt.Sprintf(", as the lock says; by its clock the validity had ended %s before the check of it", textfmt.FourDigits(-left))
		})
	case f.Validity > left:
		violate(func() string {
			return fmt.Sprintf(", as the lock says; by its clock it was no more than %s at the check of it", textfmt.FourDigits(left))
		})
	}
}

// claim notes what a call returned, if there are keys to compare it with.
func (c *contract) claim(f *timeline.Fact, what claimKind) {
	if c.exact && f.Hold != nil {
		c.claims = append(c.claims, claim{f.Hold, what, f.Time, f.Call.At, f.Reason})
	}
}

func (c *contract) Settles() timeline.Kinds {
	k := timeline.KindSet(history.Extended, history.ExtendFailed, history.Released, history.KeyGone, history.KeySet, history.KeyExtended) // also for entries: see [truth]
	if c.header.Bounds.Renew > 0 {
		k |= renewing
	}
	if c.header.Bounds.Cancel > 0 {
		k |= timeline.KindSet(history.Granted, timeline.Reentered, history.Refused)
	}
	return k
}

// Settle judges the claims and deletions of the instant. It is known now who held the
// lock and who had called release.
func (c *contract) Settle() {
	changes := c.timeline.Changes
	for i := range changes {
		k := &changes[i]
		if k.Kind == history.KeyGone && k.Reason == history.Deleted {
			c.judgeDeletion(k)
			c.noteDeletion(k)
			c.upkeep.deleted(k)
		}
		if k.Kind == history.KeyExtended && c.exact {
			c.judgeExtension(k)
		}
		if c.mayLose(k) {
			c.regained(k)
		}
	}
	for i := range changes {
		if k := &changes[i]; c.mayLose(k) {
			c.losing(k)
		}
	}
	for _, claim := range c.claims {
		c.judgeClaim(claim)
	}
	for _, r := range c.lateReturns {
		c.judgeLateReturn(r)
	}
	c.claims, c.lateReturns = c.claims[:0], c.lateReturns[:0]
	c.upkeep.settle(c.timeline.Now)
	c.truth.Settle()
}

// judgeDeletion reports a key that was deleted while its hold went on. After the call
// of release a deletion is expected.
func (c *contract) judgeDeletion(d *timeline.KeyChange) {
	if h := d.Hold; goesOn(h, d.At) {
		c.deletedKey(h, d.Node, d.Client, d.At)
	}
}

// goesOn reports whether the hold was granted before an instant, and has not ended.
func goesOn(h *timeline.Hold, now history.Time) bool {
	return h.Granted && h.GrantedAt < now && !h.ReleaseCalled && !h.Windows[timeline.LeaseWindow].Over
}

// judgeExtension reports a key that a node extended for another client while its hold went on. Clients that share a hold
// may share a key.
func (c *contract) judgeExtension(x *timeline.KeyChange) {
	h := x.Hold
	if x.Client == 0 || x.Client == h.Client.Number || !goesOn(h, x.At) || c.header.Permits() > 1 {
		return
	}
	node, by, when := x.Node, x.Client, x.At
	c.violate(KeepsHeldKeys, placeOfHold(h, h.GrantedAt, when), func() []Event {
		e := during(h, RoleLoss, when, 0)
		e.Nodes = oneNode(node)
		return []Event{e.say("node %d extended the key of %s at %s for client %d, while client %d held the lock since %s", node, e.lock(), at(when), by, e.Client, at(h.GrantedAt))}
	}, doneBy(by, "extended", node, when, 0))
}

// deletedKey reports that a node, or the store (0), deleted the key of a hold that went on.
func (c *contract) deletedKey(h *timeline.Hold, node, by int, when history.Time) {
	var causes []func() Cause
	if by != 0 && by != h.Client.Number {
		causes = append(causes, doneBy(by, "deleted", node, when, 0))
	}
	c.violate(KeepsHeldKeys, placeOfHold(h, h.GrantedAt, when), func() []Event {
		e := during(h, RoleLoss, when, 0)
		e.Nodes = oneNode(node)
		what := fmt.Sprintf("node %d deleted the key of %s at %s for %s", node, e.lock(), at(when), clientOrSome(by))
		if node == 0 {
			what = fmt.Sprintf("the entry of %s was deleted by %s at %s", e.lock(), clientOrSome(by), at(when))
		}
		return []Event{e.say("%s, while client %d held the lock since %s and had not called release", what, e.Client, at(h.GrantedAt))}
	}, causes...)
}

// maxInstead is the largest number of other clients' keys in a finding that were deleted for a
// release.
const maxInstead = 3

// noteDeletion notes that a node deleted the key of one client for another, which is
// releasing. It need not be a breach by itself: the try with that key may not have returned.
func (c *contract) noteDeletion(d *timeline.KeyChange) {
	owner := d.Hold.Client
	if d.Client == 0 || d.Client == owner.Number {
		return
	}
	for _, h := range d.About.Holds {
		if h.Client.Number != d.Client || !h.ReleaseCalled || h.Release.At > d.At {
			continue
		}
		if instead := c.instead.Of(h); len(*instead) < maxInstead {
			*instead = append(*instead, timeline.WrongKey{Node: d.Node, Client: d.Client, Owner: owner.Number, Token: d.Token, At: d.At})
		}
	}
}

func (c *contract) judgeClaim(k claim) {
	h := k.hold
	backing, where := h.Keys.Deleted, placeOfHold(h, k.call, k.at)
	switch k.what {
	case saysExtended:
		backing = h.Keys.Confirmed | h.Keys.Extended
	case saysFailed:
		if c.quorum.Quorum(h.Keys.Extended) {
			*c.effective.Of(h) = untoldExtension{k.call, k.at, k.why, h.Keys.Extended}
		}
		return
	case saysLost:
		c.judgeLost(h, where)
		return
	}
	if c.quorum.Quorum(backing) || k.what == saysHeld && c.header.Permits() > 1 && h.Keys.Claimed|h.Keys.Set == 0 && h.Keys.Past == nil {
		return // or it has never had a key: a lock may keep the holds that share a resource elsewhere
	}
	var instead []timeline.WrongKey
	if k.what == saysHeld {
		instead = *c.instead.Of(h)
	}
	c.untrue(k.what, where, h.Token, func() string { return unbacked(c.quorum, backing, k.what) }, instead...)
}

// judgeLost judges a release that reports the lock as lost.
func (c *contract) judgeLost(h *timeline.Hold, where Place) {
	kept := h.Keys.Claimed & h.Keys.Set &^ (c.timeline.Down | h.Client.Unlinked)
	switch there := h.Keys.Claimed & h.Keys.Deleted; {
	case c.quorum.Quorum(there):
		c.untrue(saysLost, where, h.Token, func() string { return votesOf(c.quorum, there) + " deleted the key in between" })
	case c.quorum.Quorum(kept) && !h.Lost && !h.Expired():
		untold := *c.effective.Of(h)
		c.untrue(saysLost, where, h.Token, func() string { return votesOf(c.quorum, kept) + " had its key all the time, and kept it" })
		if untold.failed != 0 && c.breaches.count == 1 {
			c.breaches.first.Causes = unbroken(untold.tell(h))
		}
	}
}

// tell describes an extension that has failed, and had taken effect.
func (u untoldExtension) tell(h *timeline.Hold) Event {
	e := during(h, RoleAccess, u.call, u.failed)
	e.Nodes = listNodes(u.nodes, nil)
	why := ""
	if u.reason != "" {
		why = fmt.Sprintf(" (%s)", u.reason)
	}
	return e.say("client %d's extension failed at %s%s, but %v had extended the key since its call at %s", e.Client, at(u.failed), why, u.nodes, at(u.call))
}

// unbacked says that only some nodes did what an extension, or a release, says.
func unbacked(e timeline.Electorate, did timeline.Nodes, what claimKind) string {
	few, done := "only "+votesOf(e, did), "deleted"
	if did&e.Nodes() == 0 {
		few = "no node"
	}
	if what == saysExtended {
		done = "extended"
	}
	return fmt.Sprintf("%s %s the key in between", few, done)
}

// untrue reports a call that did not return the truth; but says what happened, and instead are the
// keys that were deleted in place of the holder's.
func (c *contract) untrue(what claimKind, where Place, token string, but func() string, instead ...timeline.WrongKey) {
	var causes []func() Cause
	if len(instead) > 0 {
		k := &instead[0]
		causes = append(causes, doneBy(k.Client, "deleted", k.Node, k.At, k.Owner))
	}
	c.violate(TellsTheTruth, where, func() []Event {
		call, told := "release", "that it was released"
		switch what {
		case saysExtended:
			call, told = "extend", "that it was extended"
		case saysLost:
			told = "that it was held no more"
		}
		e := Event{Role: RoleAccess, From: where.From, To: where.To, Client: where.Client, Resource: where.Resource, Token: token}
		events := []Event{e.say("client %d called %s of %s at %s and was told at %s %s, but %s", e.Client, call, e.lock(), at(e.From), at(e.To), told, but())}
		for _, k := range instead {
			events = append(events, wrongKeyEvent(&k, "instead, a request of client %d deleted client %d's key (token %s) on node %d at %s"))
		}
		return events
	}, causes...)
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
	case told || c.timeline.Faults.None() && len(f.Causes) > 0: // a cause says so
	case c.timeline.Faults.None():
		f.Events = append(f.Events, none.say("no fault took place"))
	default:
		f.Events = append(f.Events, none.say("no fault went on meanwhile"))
	}
	return f
}
