package checker

import (
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

	notices   timeline.PerHold[lossNotice]
	instead   timeline.PerHold[[]timeline.WrongKey] // other keys that were deleted for the holder since it called release
	claims    []claim                               // in this instant
	effective timeline.PerHold[untoldExtension]
	truth     truth
	upkeep    upkeep

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
	c.exact = timeline.ExactKeys(c.header) && !c.quorum.None()
	c.truth, c.upkeep = newTruth(c), upkeep{contract: c}
	return c
}

func (c *contract) Wants() timeline.Kinds {
	k := timeline.KindSet(history.Granted, timeline.Reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released, history.KeyGone, history.End)
	if c.header.Bounds.Notice > 0 {
		k |= learning
	}
	if c.header.Bounds.Renew > 0 {
		k |= renewing
	}
	if c.exact {
		k |= timeline.KindSet(history.KeySet)
	}
	return k | c.truth.Wants()
}

func (c *contract) Observe(f *timeline.Fact) {
	b := &c.header.Bounds
	if b.Notice > 0 {
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
	GrantsValidity   Duty = "grants-validity"     // a grant and an extension have validity left
	RefusesShortTTL  Duty = "refuses-short-ttl"   // a TTL that cannot be kept is refused
	EndsWithRelease  Duty = "ends-with-release"   // a hold that was released is not extended
	TellsTheTruth    Duty = "tells-the-truth"     // extend and release return what the nodes did
	KeepsHeldKeys    Duty = "keeps-held-keys"     // only the holder's release deletes the key of a hold
	RenewsHolds      Duty = "renews-holds"        // a lock that extends its holds by itself goes on to do so
	NotifiesOfTheEnd Duty = "notifies-of-the-end" // a running holder learns in time that its hold has ended
)

// violate reports a violation by a call of a client, or by its hold.
func (c *contract) violate(duty Duty, where Place, tell func() []Event) {
	c.breaches.add(func() Finding {
		faults := eventsOf(c.timeline.Faults.Between(where.From, where.To), timeline.Forever, false)
		return Finding{Duty: duty, Events: append(tell(), faults...), Where: &where}
	})
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
	k := timeline.KindSet(history.Extended, history.ExtendFailed, history.Released, history.KeyGone, history.KeySet) // also for entries: see [truth]
	if c.header.Bounds.Renew > 0 {
		k |= renewing
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
		if k.Hold != nil && c.exact {
			c.regained(k)
		}
	}
	for i := range changes {
		if k := &changes[i]; k.Hold != nil && c.exact {
			c.losing(k)
		}
	}
	for _, claim := range c.claims {
		c.judgeClaim(claim)
	}
	c.claims = c.claims[:0]
	c.upkeep.settle(c.timeline.Now)
	c.truth.Settle()
}

// judgeDeletion reports a key that was deleted while its hold went on. After the call
// of release a deletion is expected.
func (c *contract) judgeDeletion(d *timeline.KeyChange) {
	h := d.Hold
	if h.ReleaseCalled || !h.Granted || h.GrantedAt >= d.At || h.Windows[timeline.LeaseWindow].Over {
		return
	}
	c.deletedKey(h, d.Node, d.Client, d.At)
}

// deletedKey reports that a node, or the store (0), deleted the key of a hold that went on.
func (c *contract) deletedKey(h *timeline.Hold, node, by int, when history.Time) {
	c.violate(KeepsHeldKeys, placeOfHold(h, h.GrantedAt, when), func() []Event {
		e := during(h, RoleLoss, when, 0)
		e.Nodes = oneNode(node)
		what := fmt.Sprintf("node %d deleted the key of %s at %s for %s", node, e.lock(), at(when), clientOrSome(by))
		if node == 0 {
			what = fmt.Sprintf("the entry of %s was deleted by %s at %s", e.lock(), clientOrSome(by), at(when))
		}
		return []Event{e.say("%s, while client %d held the lock since %s and had not called release", what, e.Client, at(h.GrantedAt))}
	})
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
	if c.quorum.Quorum(backing) {
		return
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
			events = append(events, wrongKeyEvent(&k, "instead, a request of client %d deleted client %d's key (token %s) on node %d at %s"))
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
	case told || c.timeline.Faults.None() && len(f.Causes) > 0: // a cause says so
	case c.timeline.Faults.None():
		f.Events = append(f.Events, none.say("no fault took place"))
	default:
		f.Events = append(f.Events, none.say("no fault went on meanwhile"))
	}
	return f
}

// truth judges what releases and extensions return by the entries of a store, or by keys that a watch
// reports:
//   - a release says that the lock was held: then a client has deleted the entry, or keys on a quorum
//     of nodes, before the return;
//   - a release says that it was not: then the holder's own request has not deleted an entry that was
//     there when it called release. This is judged only if the history says who deletes entries;
//   - an extension succeeds: then a quorum of nodes has kept the key at some time between call and
//     return. A node that already keeps a key for longer does not change it, so that there is no
//     change to look for. Entries are not extended.
//
// And nobody deletes the key or the entry of a hold that goes on and that its holder has not
// released.
//
// If a watch reports the changes, a claim is judged when all changes before it are recorded, for each
// node. Nothing is concluded from a node whose watch has begun anew since the call. Claims about an
// entry are not judged if the store's leader changes before: a replica may never have had the
// change.
type truth struct {
	contract *contract
	quorum   timeline.Electorate // the nodes; of a store one that stands for it
	claims   []watchedClaim

	judged   int
	unjudged int
}

// watchedClaim is what a release or an extension returned, and what is known of it by node.
type watchedClaim struct {
	what   claimKind
	where  Place // from the call to the return
	token  string
	backed timeline.Nodes // they did it, as far as is recorded
	denied timeline.Nodes // they did not: all changes are recorded
	unseen timeline.Nodes // not known: the watch has begun anew
}

// storeNode is the number of the node that stands for a store.
const storeNode = 1

// keeper is the node whose change the event is, or whose changes it confirms.
func keeper(f *timeline.Fact) int {
	if f.Node == 0 || f.Kind == history.EntryDeleted || f.Kind == history.EntryGone || f.Kind == history.EntrySet {
		return storeNode
	}
	return f.Node
}

func newTruth(c *contract) truth {
	t := truth{contract: c, quorum: c.quorum}
	if c.header.Entries {
		t.quorum = timeline.AllAlike(storeNode)
	}
	return t
}

// judges reports whether there are entries, or keys under a watch.
func (t *truth) judges() bool {
	h := &t.contract.header
	return h.Entries || h.Watched && h.Keys && !t.quorum.None()
}

func (t *truth) Wants() timeline.Kinds {
	switch h := &t.contract.header; {
	case h.Entries:
		return timeline.KindSet(history.EntryDeleted, history.EntriesSeen, history.Leader)
	case t.judges():
		return timeline.KindSet(history.KeySet, history.KeyExtended, history.KeyGone, history.EntriesSeen)
	}
	return 0
}

// released notes the return of a release.
func (t *truth) released(f *timeline.Fact) {
	h := f.Hold
	if h == nil {
		return
	}
	claim := t.claim(f, saysHeld)
	watched := t.contract.header.Watched
	e := &h.Keys.Entry
	claim.backed = h.Keys.Deleted
	if e.Deleted {
		claim.backed = claim.backed.With(storeNode)
	}
	switch {
	case f.Outcome == history.OK && (watched || !e.Deleted):
		t.claims = append(t.claims, claim)
	case f.Outcome == history.Declined && !watched && e.Claimed && e.Deleted:
		t.contract.untrue(saysLost, claim.where, claim.token, func() string { return "its request deleted the entry in between" })
	}
	if !watched {
		t.judged++
	}
}

// extended notes the return of an extension.
func (t *truth) extended(f *timeline.Fact) {
	h := f.Hold
	if h == nil || t.contract.header.Entries {
		return
	}
	claim := t.claim(f, saysExtended)
	claim.backed = h.Keys.Kept | h.Keys.Set | h.Keys.Extended
	t.claims = append(t.claims, claim)
}

func (t *truth) claim(f *timeline.Fact, what claimKind) watchedClaim {
	return watchedClaim{what: what, where: placeOfHold(f.Hold, f.Call.At, f.Time), token: f.Hold.Token}
}

func (t *truth) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.EntryDeleted, history.KeyGone:
		if timeline.MayBeDeleted(f.Event) {
			t.back(f, false)
		}
		if f.Kind == history.EntryDeleted || f.Reason == history.Deleted {
			t.deleted(f)
		}
	case history.KeySet, history.KeyExtended:
		t.back(f, true)
	case history.EntriesSeen:
		if (f.Node == 0) == t.contract.header.Entries {
			t.judge(keeper(f), f.Since, f.Sent)
		}
	case history.Leader:
		if t.contract.header.Watched {
			t.unjudged += len(t.claims)
			t.claims = t.claims[:0]
		}
	}
}

// back notes that a node has done what releases, or extensions, of the token claim.
func (t *truth) back(f *timeline.Fact, extended bool) {
	t.backClaims(keeper(f), f.Resource, f.Token, func(c *watchedClaim) bool { return (c.what == saysExtended) == extended })
}

// backClaims notes that a node backs those claims about a token that are wanted.
func (t *truth) backClaims(node int, resource, token string, wanted func(*watchedClaim) bool) {
	for i := range t.claims {
		if c := &t.claims[i]; c.token == token && c.where.Resource == resource && wanted(c) {
			c.backed = c.backed.With(node)
		}
	}
}

// Settle judges the claims of an instant, if changes are recorded when they take place. A key that went in the
// instant in which an extension returned may have been there when it did.
func (t *truth) Settle() {
	if len(t.claims) == 0 {
		return
	}
	changes := t.contract.timeline.Changes
	for i := range changes {
		if k := &changes[i]; k.Kind == history.KeyGone && k.Hold != nil {
			t.backClaims(k.Node, k.Hold.Resource.Name, k.Hold.Token, func(c *watchedClaim) bool { return c.what == saysExtended && c.where.To == k.At })
		}
	}
	if !t.contract.header.Watched {
		t.judge(storeNode, 0, timeline.Forever)
	}
}

// judge judges the claims between two instants by a node: all its changes between them are recorded.
func (t *truth) judge(node int, from, seen history.Time) {
	t.claims = timeline.Without(t.claims, func(c *watchedClaim) bool {
		switch {
		case c.where.To >= seen:
			return false
		case c.backed.Has(node):
		case c.where.From < from:
			c.unseen = c.unseen.With(node)
		default:
			c.denied = c.denied.With(node)
		}
		return t.decide(c)
	})
}

// decide decides a claim, and reports whether no more can be known of it.
func (t *truth) decide(c *watchedClaim) bool {
	switch {
	case t.quorum.Quorum(c.backed):
	case !t.quorum.Quorum(t.quorum.Nodes() &^ c.denied):
		t.contract.untrue(c.what, c.where, c.token, func() string {
			if t.contract.header.Entries {
				return "no client deleted the entry in between"
			}
			return unbacked(t.quorum, c.backed, c.what)
		})
	case t.quorum.Nodes()&^(c.backed|c.denied|c.unseen) != 0:
		return false
	default:
		t.unjudged++
		return true
	}
	if t.contract.header.Watched {
		t.judged++
	}
	return true
}

// deleted reports the deletion of the key, or the entry, of a hold that goes on. A watch reports it
// late: it took place after what was seen before.
func (t *truth) deleted(f *timeline.Fact) {
	node := f.Node
	if f.Kind == history.EntryDeleted {
		node = 0
	}
	for _, h := range f.Locked.Holds {
		if h.Token != f.Token || h.ReleaseCalled || !h.Granted || h.GrantedAt >= f.Time || h.Windows[timeline.LeaseWindow].Over ||
			t.contract.header.Watched && t.contract.timeline.SeenUpTo(node) <= h.GrantedAt {
			continue
		}
		t.contract.deletedKey(h, node, f.Client, f.Time)
	}
}

// unjudgedBecause says why nothing was judged, or nothing.
func (t *truth) unjudgedBecause() string {
	switch {
	case t.judged > 0 || t.unjudged+len(t.claims) == 0:
		return ""
	case t.contract.header.Entries:
		return "whether release told the truth was not judged: " + entriesUnseen
	}
	return "whether extend and release told the truth was not judged: " + keysUnseen
}

// lossNotice is what is known about when a holder has to learn that its hold has ended.
//
// The lock promises a TTL, counted from when it read its clock before sending requests.
// After that much true time the hold has ended, whatever other clocks say. The declared end
// of validity is earlier, by the drift allowance. A running holder has to learn of the end
// within the bound: its context ends, and the declared end of validity comes. If it was
// paused, the bound counts from its resume. A check has to answer correctly at once.
type lossNotice struct {
	given  bool
	end    history.Time // when the TTL ends, at the latest
	since  history.Time // when it was granted
	told   bool         // its context has ended
	toldAt history.Time // when it was last told
	lost   bool         // it was told of the loss, which is final
	lostAt history.Time
	blamed bool // a violation by this hold was reported

	missing timeline.Nodes // that have lost its key
	gone    bool           // its keys are no longer on a quorum
	goneAt  history.Time   // since then
}

// learning are the kinds of events by which a holder learns of the end, or by which it has
// to have learned of it.
var learning = timeline.KindSet(history.Extend, history.Expiring, history.Lost, history.Release, history.Lapse,
	history.Checked, history.Pause, history.Kill)

// follow follows when holders learn of the end.
func (c *contract) follow(f *timeline.Fact) {
	switch f.Kind {
	case history.Pause, history.Kill, history.End:
		c.stopped(f)
		return
	}
	h := f.Hold
	if h == nil {
		return
	}
	switch f.Kind {
	case history.Granted:
		c.leased(h, f.Time)
	case timeline.Reentered:
		c.notices.Of(h).renew(f.Time, f.Time.Add(h.TTL))
	case history.Extended:
		c.notices.Of(h).renew(f.Time, f.Time.Add(extendedBy(f)-f.Took))
	case history.Extend, history.Release:
		c.untold(h, f.Time)
	case history.Expiring, history.Lost:
		c.untold(h, f.Time)
		c.notices.Of(h).tell(f)
	case history.Lapse:
		c.lapsed(f)
	case history.Checked:
		c.checked(f)
	}
}

// stopped judges the holds of clients that stop running.
func (c *contract) stopped(f *timeline.Fact) {
	if f.Kind != history.End {
		c.untoldAll(f.Actor, f.Time)
		return
	}
	for _, who := range c.timeline.Clients {
		c.untoldAll(who, f.Time)
	}
}

// leased notes a grant. The TTL counts from when the lock read its clock, if the try states
// that. For a lock in a store it counts from the grant, because the session may have been
// kept alive until then.
func (c *contract) leased(h *timeline.Hold, now history.Time) {
	from := now
	if h.Sending && c.header.Keepers >= 0 {
		from = h.SentAt
	}
	if h.TTL > 0 && !h.Endless() {
		n := c.notices.Of(h)
		n.given, n.end, n.since = true, from.Add(h.TTL), now
	}
}

// losing notes whether the keys of a hold are on a quorum after an instant; that they are not is a loss. A holder
// without an end has to learn of it within a TTL, as any other does, and the bound.
func (c *contract) losing(k *timeline.KeyChange) {
	h, n := k.Hold, c.notices.Of(k.Hold)
	if !c.mayLose(k) {
		return
	}
	if k.Kind == history.KeyGone {
		n.missing = n.missing.With(k.Node)
	}
	switch backed := c.quorum.Quorum(h.Keys.Set); {
	case backed:
		n.gone = false
	case k.Kind == history.KeyGone && !n.gone:
		n.gone, n.goneAt = true, k.At
		if bound := c.header.Bounds.Notice; bound > 0 && h.Endless() {
			n.given, n.since, n.end = true, h.GrantedAt, k.At.Add(c.header.LongestTTL)
		}
	}
}

// mayLose reports whether the hold of a key goes on, and its loss has not been reported.
func (c *contract) mayLose(k *timeline.KeyChange) bool {
	h := k.Hold
	return h.Leased() && !h.ReleaseCalled && !h.Lost && h.GrantedAt < k.At
}

// regained judges a key that the lock sets again on a node that has lost it: if the hold was lost meanwhile,
// the holder goes on as if nothing had happened.
func (c *contract) regained(k *timeline.KeyChange) {
	h, n := k.Hold, c.notices.Of(k.Hold)
	if k.Kind != history.KeySet || !n.gone || !n.missing.Has(k.Node) || k.Client != h.Client.Number ||
		!c.mayLose(k) || !c.quorum.Quorum(h.Keys.Set) {
		return
	}
	n.gone = false
	c.violate(NotifiesOfTheEnd, placeOfHold(h, n.goneAt, k.At), func() []Event {
		e := during(h, RoleLoss, n.goneAt, k.At)
		return []Event{e.say("client %d held %s since %s; from %s on its keys were on no quorum, and at %s the lock set them again, and had not told it of the loss",
			e.Client, e.lock(), at(h.GrantedAt), at(e.From), at(e.To))}
	})
}

// renew notes an extension. A pause during the call does not count, because the lock may
// read its clock after it. A warning before the extension is void, a loss is not. If both
// happened in one instant, the order is unknown and the warning stays.
func (n *lossNotice) renew(now, end history.Time) {
	n.end = max(n.end, end)
	n.told = n.told && (n.lost || n.toldAt == now)
}

func (n *lossNotice) tell(f *timeline.Fact) {
	n.told, n.toldAt = true, f.Time
	if f.Kind == history.Lost && !n.lost {
		n.lost, n.lostAt = true, f.Time
	}
}

// leasedUntil is when the TTL of the last grant or extension ends. An extension under way
// may have been granted already.
func (c *contract) leasedUntil(h *timeline.Hold) history.Time {
	if x := h.Extend; x.Open {
		return max(c.notices.Of(h).end, x.At.Add(h.ExtendTTL+h.Client.PausedFor-x.Paused))
	}
	return c.notices.Of(h).end
}

// knowsFrom is from when the bound counts.
func (c *contract) knowsFrom(h *timeline.Hold) history.Time {
	return max(c.leasedUntil(h), c.notices.Of(h).since, h.Client.Resumed)
}

func (c *contract) untoldAll(who *timeline.Client, now history.Time) {
	for _, h := range who.Holds {
		c.untold(h, now)
	}
}

// untold reports a holder that ran on for too long without a notice.
func (c *contract) untold(h *timeline.Hold, now history.Time) {
	bound := c.header.Bounds.Notice
	if c.notices.Of(h).told || letGoBefore(h, now) || stoodBefore(h.Client, now) {
		return
	}
	if ran := now.Sub(c.knowsFrom(h)); ran > bound {
		c.tooLate(h, now, func(e Event) Event {
			e.From = now.Add(-ran)
			return e.say("client %d ran on until %s, for %s, more than %s, and its context had not ended", e.Client, at(now), textfmt.FourDigits(ran), bound)
		})
	}
}

func letGoBefore(h *timeline.Hold, now history.Time) bool {
	return h.ReleaseCalled && h.Release.At < now
}

// stoodBefore reports whether the client was paused or dead before an instant. Its holds
// were judged when that began.
func stoodBefore(c *timeline.Client, now history.Time) bool {
	return c.Paused && c.LastPause.From < now || c.Dead && c.Died < now
}

// lapsed reports a declared end of validity that comes too late.
func (c *contract) lapsed(f *timeline.Fact) {
	h, bound := f.Hold, c.header.Bounds.Notice
	lost := c.notices.Of(h).lost && c.notices.Of(h).lostAt < f.Time
	if !h.Expired() || lost || letGoBefore(h, f.Time) || stoodBefore(h.Client, f.Time) {
		return
	}
	if late := f.Time.Sub(c.knowsFrom(h)); late > bound {
		c.tooLate(h, f.Time, func(e Event) Event {
			return e.say("the end of validity that client %d was told came at %s, %s too late, more than %s", e.Client, at(f.Time), textfmt.FourDigits(late), bound)
		})
	}
}

// checked reports a check that answered that the lock is held after the hold had ended.
func (c *contract) checked(f *timeline.Fact) {
	h, asked := f.Hold, f.Call.At
	if f.Outcome == history.OK && asked > c.leasedUntil(h) && !letGoBefore(h, asked) {
		c.tooLate(h, f.Time, func(e Event) Event {
			e.From = asked
			return e.say("client %d asked at %s whether it held the lock, and was told that it did", e.Client, at(asked))
		})
	}
}

// tooLate reports that a holder learned of the end too late, once for each hold.
func (c *contract) tooLate(h *timeline.Hold, now history.Time, how func(Event) Event) {
	if !c.notices.Of(h).given || c.notices.Of(h).blamed {
		return
	}
	c.notices.Of(h).blamed = true
	c.breaches.add(func() Finding {
		held, over := during(h, RoleAccess, h.GrantedAt, c.leasedUntil(h)), c.leasedUntil(h)
		held = held.say("client %d held %s since %s for a time to live that was over at %s", held.Client, held.lock(), at(h.GrantedAt), at(over))
		if n := c.notices.Of(h); h.Endless() {
			held = held.say("client %d held %s since %s without an end, and its keys were on no quorum since %s", held.Client, held.lock(), at(h.GrantedAt), at(n.goneAt))
		}
		late := how(during(h, RoleWait, now, 0))
		faults := eventsOf(c.timeline.Faults.Between(h.Acquire.At, now), timeline.Forever, false)
		where := placeOfHold(h, over, now)
		return Finding{Duty: NotifiesOfTheEnd, Events: append([]Event{held, late}, faults...), Causes: c.lateBecause(h, now), Where: &where}
	})
}

// lateBecause returns the causes. A clock that reached the end of validity in time was not
// wrong, whatever faults did to it.
func (c *contract) lateBecause(h *timeline.Hold, now history.Time) []Cause {
	if h.Endless() {
		return unbroken(Event{Role: RoleWait, Text: "the lock itself did not tell it of the loss"})
	}
	if h.Expired() && h.Expiry() <= c.leasedUntil(h) {
		reached := Event{Role: RoleAccess, From: h.Expiry(), Client: h.Client.Number}
		return unbroken(reached.say("the clock that the lock reads had come to the end of validity at %s", at(h.Expiry())))
	}
	if wrong := c.timeline.Faults.OnClock(nemesis.Machine{Client: h.Client.Number}, h.Acquire.At, now); len(wrong) > 0 {
		return broken(ClockCounts, tellFaults(wrong)...)
	}
	if h.UnknownEnd != nil {
		return nil
	}
	return unbroken(deadlineLate)
}
