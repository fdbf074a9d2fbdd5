package checker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// FaultTolerance says that with a minority of nodes out of reach, tries still succeed.
const FaultTolerance Property = "fault_tolerance"

// tolerance judges whether a client that reaches a majority of the nodes is granted
// the lock while other nodes are out of reach. Only fair tries count. A try is fair
// if during all of it
//
//   - some node was down, or cut off from the client, and nothing about any node
//     or link changed;
//   - the nodes that were up and linked to the client were a majority, and
//     within the longest TTL before the call none of them had gone down or
//     come up, and no client's link to one of them had been down or had
//     changed, so that they hold no key that somebody could not delete;
//   - no other token competed for the resource (see [competitors]), and none had a
//     key on any of those nodes, as far as the history records keys: a request
//     that was held back, or a clock that stood still, can leave one for long;
//   - the client was not paused, and did not cancel the call.
//
// As many fair tries in a row without a grant as the bound says are a violation.
//
// So is one extension that fails although a quorum of the nodes kept the hold's key from the call to the
// return: see [tolerance.fairExtension].
//
// If a watch reports the nodes' keys, or a store's entries, it has to have got its answers meanwhile from
// every node that the client reached, and none as late as a try takes on average: a node that answers
// later is not in reach. That shows when the next answer comes.
type tolerance struct {
	tries int // how many must suffice; 0: not judged
	ttl   time.Duration
	nodes timeline.Electorate // all nodes with one vote each, whatever the lock makes of them: else a lock on a single node would promise nothing

	timeline *timeline.Timeline
	changed  history.Time     // the last change to any node or link
	unquiet  []history.Time   // by node: the last change to it or to a link to it
	severed  []int            // by node: how many clients are cut off from it
	faulty   bool             // some node was out of some client's reach at some time
	returned []attempt        // in this instant
	called   []*timeline.Hold // tries, in this instant
	failed   []attempt        // extensions that failed, in this instant
	leaving  []departure      // in this instant
	cleared  []orphanKey      // keys that went away in this instant
	streaks  map[streakKey]streak

	competitors timeline.PerResource[competitors]
	rivals      timeline.PerHold[rival]
	kept        timeline.PerResource[[]orphanKey] // keys on the nodes
	pending     []openStreak                      // violations that rest on answers to watches, which are not there yet

	eligible int
	granted  int // of the fair tries
	breaches violations
}

// rival is what is known of a try, or a hold, that others compete with.
type rival struct {
	competes   bool           // the token may hold keys
	obstructed timeline.Nodes // nodes that kept another token's key at some time since the call
}

// attempt is a try that has returned.
type attempt struct {
	hold    *timeline.Hold
	call    history.Time
	at      history.Time // of its return
	granted bool
	holds   bool // granted, and not to a client that held the lock
}

// compare orders the tries that returned in one instant by their calls.
func (a attempt) compare(b attempt) int {
	return cmp.Or(cmp.Compare(a.call, b.call), strings.Compare(a.hold.Token, b.hold.Token))
}

// streak is fair tries in a row without a grant.
type streak struct {
	tries int
	since history.Time
}

// openStreak is a violation, if the nodes are known to have answered their watches meanwhile.
type openStreak struct {
	since, at history.Time
	tries     int
	awaited   timeline.Nodes // whose next answers are not there yet
	told      Finding
}

type streakKey struct {
	client   int
	resource string
}

func newTolerance(line *timeline.Timeline, _ *shared) propertyChecker {
	h := line.Header
	t := &tolerance{
		timeline: line,
		tries:    h.Bounds.Tries, ttl: h.LongestTTL, nodes: timeline.AllAlike(h.Nodes),
		changed: timeline.LongAgo, unquiet: make([]history.Time, h.Nodes+1), severed: make([]int, h.Nodes+1),
		streaks: map[streakKey]streak{},
	}
	for n := range t.unquiet {
		t.unquiet[n] = timeline.LongAgo
	}
	return t
}

func (t *tolerance) Wants() timeline.Kinds {
	if t.tries == 0 {
		return 0
	}
	keys := timeline.KindSet(history.KeySet, history.KeyGone)
	if t.timeline.Header.Watched {
		keys = timeline.KindSet(history.EntriesSeen) // keys are recorded late
	}
	return keys | timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Released, history.Lapse, history.Kill,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp)
}

func (t *tolerance) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.NodeDown, history.NodeUp:
		t.change(f)
	case history.LinkDown:
		t.sever(f)
	case history.LinkUp:
		t.mend(f)
	case history.KeySet:
		t.keySet(f)
	case history.KeyGone:
		t.forget(f)
	case history.EntriesSeen:
		t.answered(f)
	case history.Granted, history.Refused:
		if f.Hold != nil {
			t.returned = append(t.returned, attempt{f.Hold, f.Hold.Acquire.At, f.Time, f.Kind == history.Granted, f.Kind == history.Granted})
		}
	case history.ExtendFailed:
		if f.Hold != nil {
			t.failed = append(t.failed, attempt{hold: f.Hold, call: f.Call.At, at: f.Time})
			t.leaving = append(t.leaving, departure{kind: f.Kind, hold: f.Hold, at: f.Time})
		}
	case timeline.Reentered:
		t.returned = append(t.returned, attempt{f.Try, f.Try.Acquire.At, f.Time, true, false})
		t.compete(f.Hold, f.Time)
	default:
		t.follow(f)
	}
}

func (t *tolerance) change(f *timeline.Fact) {
	t.changed, t.unquiet[f.Node] = f.Time, f.Time
	t.faulty = t.faulty || t.timeline.Down != 0 || f.Kind == history.LinkDown
}

func (t *tolerance) sever(f *timeline.Fact) {
	if f.LinkChanged {
		t.severed[f.Node]++
	}
	t.change(f)
}

func (t *tolerance) mend(f *timeline.Fact) {
	if f.LinkChanged {
		t.severed[f.Node]--
	}
	t.change(f)
}

// Settle judges the tries that returned in the instant. After that those that hold
// nothing compete no more.
func (t *tolerance) Settle() {
	t.stopCompeting()
	for _, h := range t.called {
		t.obstructCalled(h)
	}
	slices.SortFunc(t.returned, attempt.compare)
	for _, a := range t.returned {
		t.judge(a)
	}
	for _, a := range t.returned {
		if !a.holds {
			t.stop(a.hold, t.refusedUntil(a))
		}
	}
	for _, a := range t.failed {
		if t.fairExtension(a) {
			t.failExtension(a)
		}
	}
	t.failed = t.failed[:0]
	t.returned, t.called, t.cleared = t.returned[:0], t.called[:0], t.cleared[:0]
}

// refusedUntil is until when a refused try competes. A cancelled try has not waited for
// the nodes and may set keys after its return.
func (t *tolerance) refusedUntil(a attempt) history.Time {
	if a.cancelled() {
		return a.at.Add(t.ttl)
	}
	return a.at
}

// cancelled reports whether the call of the try may have been cancelled.
func (a attempt) cancelled() bool { return a.hold.Client.Cancelled >= a.call }

func (t *tolerance) judge(a attempt) {
	if t.timeline.Down == 0 && a.hold.Client.Unlinked == 0 && len(t.streaks) == 0 {
		return
	}
	key := streakKey{a.hold.Client.Number, a.hold.Resource.Name}
	if !t.fair(a) {
		delete(t.streaks, key)
		return
	}
	t.eligible++
	if a.granted {
		t.granted++
		delete(t.streaks, key)
		return
	}
	s := t.streaks[key]
	if s.tries == 0 {
		s.since = a.call
	}
	s.tries++
	t.streaks[key] = s
	if s.tries == t.tries {
		t.violate(a, s)
		delete(t.streaks, key)
	}
}

// fair reports whether the try is fair.
func (t *tolerance) fair(a attempt) bool {
	c := a.hold.Client
	gone := t.timeline.Down | c.Unlinked
	reached := t.nodes.Nodes() &^ gone
	if gone == 0 || !t.nodes.Quorum(reached) || t.changed >= a.call {
		return false
	}
	for n := range t.unquiet {
		if reached.Has(n) && (t.severed[n] > 0 || t.unquiet[n].Add(t.ttl) > a.call) {
			return false
		}
	}
	if c.Paused || c.PauseChanged >= a.call || a.cancelled() {
		return false
	}
	return t.rivals.Of(a.hold).obstructed&reached == 0 && t.competitors.Of(a.hold.Resource).free(a)
}

// fairExtension reports whether an extension should have succeeded: some node was out of the client's
// reach, nothing about any node or link changed during the call, and a quorum of the nodes in reach kept
// the key all that time. The validity had not ended, nobody had reported a loss or called release, the
// client was not paused and had not cancelled the call, and it asked for a TTL no shorter than its own.
func (t *tolerance) fairExtension(a attempt) bool {
	h, lock := a.hold, timeline.ElectorateOf(t.timeline.Header)
	c, gone := h.Client, t.timeline.Down|h.Client.Unlinked
	switch {
	case !timeline.ExactKeys(t.timeline.Header) || gone == 0 || t.changed >= a.call:
		return false
	case h.Expired() || h.Lost || h.ReleaseCalled || h.ExtendTTL != 0 && h.ExtendTTL < h.TTL:
		return false
	case c.Paused || c.PauseChanged >= a.call || a.cancelled():
		return false
	}
	return lock.Quorum(h.Keys.Kept & h.Keys.Set &^ gone)
}

func (t *tolerance) failExtension(a attempt) {
	h := a.hold
	kept := h.Keys.Kept & h.Keys.Set &^ (t.timeline.Down | h.Client.Unlinked)
	t.breaches.add(func() Finding {
		e := during(h, RoleWait, a.call, a.at)
		e.Nodes = listNodes(kept, nil)
		return Finding{
			Events: []Event{e.say("client %d called extend of %s at %s and was told at %s that it failed, though it reached %v, a quorum, which kept the key all that time", e.Client, e.lock(), at(e.From), at(e.To), kept)},
			Causes: unbroken(Event{Role: RoleWait, Text: "the lock itself did not extend it"}),
			Where:  &Place{Resource: h.Resource.Name, Client: e.Client, From: a.call, To: a.at},
		}
	})
}

func (t *tolerance) violate(a attempt, s streak) {
	client, r := a.hold.Client, a.hold.Resource.Name
	reached := t.nodes.Nodes() &^ (t.timeline.Down | client.Unlinked)
	tell := func() Finding {
		refused := Event{Role: RoleWait, From: s.since, To: a.at, Client: client.Number, Resource: r}
		return Finding{
			Events: []Event{refused.say("client %d was refused %s at %s in a row, from %s to %s, though it reached %s and nobody competed",
				client.Number, quoted(r), counted(s.tries, "try"), at(s.since), at(a.at), votesOf(t.nodes, reached))},
			Causes: t.causes(a, reached),
			Where:  &Place{Resource: r, Client: client.Number, From: s.since, To: a.at},
		}
	}
	awaited := reached & t.timeline.WatchedNodes()
	if awaited == 0 {
		t.breaches.add(tell)
		return
	}
	t.pending = append(t.pending, openStreak{since: s.since, at: a.at, tries: s.tries, awaited: awaited, told: tell()})
}

// answered judges by an answer to the watch of a node, or of the store, whether the node was in reach
// before: tries in a row do not count during which it answered as late as such a try takes on average.
func (t *tolerance) answered(f *timeline.Fact) {
	whose := timeline.Node(f.Node)
	if f.Node == 0 {
		whose = timeline.AllNodes(t.timeline.Header.Nodes)
	}
	late := func(since, at history.Time, tries int) bool {
		overlap := min(f.Time, at).Sub(max(f.WaitedSince, since))
		return overlap > 0 && overlap*time.Duration(tries) >= at.Sub(since)
	}
	for key, s := range t.streaks {
		if late(s.since, f.Time, s.tries) {
			t.eligible -= s.tries
			delete(t.streaks, key)
		}
	}
	t.pending = timeline.Without(t.pending, func(c *openStreak) bool {
		if c.awaited&whose == 0 {
			return false
		}
		if late(c.since, c.at, c.tries) {
			t.eligible -= c.tries
			return true
		}
		if f.Sent >= c.at {
			c.awaited &^= whose
		}
		if c.awaited == 0 {
			t.breaches.add(func() Finding { return c.told })
		}
		return c.awaited == 0
	})
}

func (t *tolerance) causes(a attempt, reached timeline.Nodes) []Cause {
	if lock := timeline.ElectorateOf(t.timeline.Header); !lock.None() && !lock.Quorum(reached) {
		missed, client := lock.Nodes()&^reached, a.hold.Client.Number
		return broken(KeepersReached, Event{Role: RoleFault, Client: client, Nodes: listNodes(missed, nil)}.say("client %d did not reach %v", client, missed))
	}
	if o := outlived(a.hold, t.nodes, a.at); o != nil {
		return unbroken(o.event())
	}
	return unbroken(Event{Role: RoleWait, Text: "the lock itself refused"})
}

func (t *tolerance) finding(end history.Time) Finding {
	unknown := func(e Event) Finding {
		f := because(Unknown, e)
		f.Where = &Place{From: t.changed, To: end}
		return f
	}
	switch {
	case t.tries == 0:
		return notExercised(NotApplicable, "no number of tries is promised")
	case t.breaches.count > 0:
		return t.breaches.violated()
	case !t.faulty:
		return notExercised(NotApplicable, "every client reached every node at all times")
	case len(t.pending) > 0:
		return unknown(Event{Role: RoleUnseen, Text: keysUnseen})
	case t.eligible == 0:
		return unknown(Event{Role: RoleNotExercised, Text: "nodes were out of reach, but no try reached a quiet majority with nobody competing"})
	case t.granted == 0:
		return unknown(Event{Role: RoleWait}.say("%s reached a quiet majority with nobody competing, and not one was granted, but never %d in a row", counted(t.eligible, "try"), t.tries))
	}
	won := Event{Role: RoleAccess}
	return because(Holds, won.say("with nodes out of reach %d of %s succeeded that reached a quiet majority with nobody competing", t.granted, counted(t.eligible, "try")))
}

// orphanKey is a key that a node keeps under a resource's name.
type orphanKey struct {
	resource *timeline.Resource
	node     int
	token    string
}

// keySet notes a key. It obstructs all tries under way for another token.
func (t *tolerance) keySet(f *timeline.Fact) {
	r := f.Locked
	t.forget(f)
	kept := t.kept.Of(r)
	*kept = append(*kept, orphanKey{r, f.Node, f.Token})
	for _, h := range r.Holds {
		if h.Token != f.Token {
			t.obstruct(h, f.Node)
		}
	}
}

// forget notes that a node has no key any more.
func (t *tolerance) forget(f *timeline.Fact) {
	kept := t.kept.Of(f.Locked)
	*kept = timeline.Without(*kept, func(s *orphanKey) bool {
		if s.node == f.Node {
			t.cleared = append(t.cleared, *s)
		}
		return s.node == f.Node
	})
}

// obstruct notes a node whose key obstructs a try.
func (t *tolerance) obstruct(h *timeline.Hold, node int) {
	rival := t.rivals.Of(h)
	rival.obstructed = rival.obstructed.With(node)
}

// obstructCalled notes the nodes whose keys obstruct a try that was called in this instant, or did
// until then.
func (t *tolerance) obstructCalled(h *timeline.Hold) {
	for _, keys := range [][]orphanKey{*t.kept.Of(h.Resource), t.cleared} {
		for _, s := range keys {
			if s.resource == h.Resource && s.token != h.Token {
				t.obstruct(h, s.node)
			}
		}
	}
}

// competitors counts the tokens of a resource that may have keys on nodes. A token
// competes from the call of acquire until the try is refused or a release has returned
// OK. After a lapse, or a release that was not confirmed, it may have left keys and
// competes for another longest TTL. An extension that fails after the lapse may have renewed
// them: the token competes from its call until a longest TTL after its return. After the
// client's death it competes for two, because a request may still be on its way. A hold
// without a TTL competes until a release has returned OK.
type competitors struct {
	open    int          // tokens that compete now
	settled history.Time // when the last of the others stopped

	latest history.Time // the last instant in which some began to compete
	began  int          // how many did
}

// free reports whether no other token competed during the try. A try that begins in the
// instant in which this one returns does not count.
func (r *competitors) free(a attempt) bool {
	began := 0
	if r.latest == a.at {
		began = r.began
	}
	return a.call < a.at && r.open-began == 1 && r.settled <= a.call
}

func (t *tolerance) compete(h *timeline.Hold, now history.Time) {
	rival := t.rivals.Of(h)
	if rival.competes {
		return
	}
	rival.competes = true
	r := t.competitors.Of(h.Resource)
	r.open++
	if r.latest != now {
		r.latest, r.began = now, 0
	}
	r.began++
}

// stop ends the competition of a hold at an instant.
func (t *tolerance) stop(h *timeline.Hold, then history.Time) {
	if rival := t.rivals.Of(h); rival.competes {
		rival.competes = false
		r := t.competitors.Of(h.Resource)
		r.open--
		r.settled = max(r.settled, then)
	}
}

// departure is an event after which a hold, or all holds of a client, may stop competing.
type departure struct {
	kind    history.Kind
	hold    *timeline.Hold
	client  *timeline.Client
	outcome history.Outcome
	at      history.Time
}

// follow follows which tokens compete. They stop at the end of the instant.
func (t *tolerance) follow(f *timeline.Fact) {
	h := f.Hold
	switch f.Kind {
	case history.Kill:
		t.leaving = append(t.leaving, departure{kind: f.Kind, client: f.Actor, at: f.Time})
	case history.Released, history.Lapse:
		if h != nil {
			t.leaving = append(t.leaving, departure{kind: f.Kind, hold: h, outcome: f.Outcome, at: f.Time})
		}
	case history.Extend:
		if h != nil && h.Expired() && !letGoBefore(h, f.Time) {
			t.compete(h, f.Time)
		}
	case history.Acquire, history.Extended:
		if h != nil && (!h.Client.Dead || h.Client.Died == f.Time) {
			t.compete(h, f.Time)
		}
		if h != nil && f.Kind == history.Acquire {
			t.called = append(t.called, h)
		}
	}
}

// stopCompeting handles the departures of the instant: releases first, then lapses and
// extensions that failed after them, deaths last.
func (t *tolerance) stopCompeting() {
	for _, kind := range []history.Kind{history.Released, history.Lapse, history.ExtendFailed, history.Kill} {
		for _, d := range t.leaving {
			if d.kind == kind {
				t.retreat(d)
			}
		}
	}
	t.leaving = t.leaving[:0]
}

// retreat lets a hold, or all holds of a dead client, compete only as long as they may have
// left keys.
func (t *tolerance) retreat(d departure) {
	switch h := d.hold; {
	case d.kind == history.Kill:
		for _, h := range d.client.Holds {
			if !h.Endless() || t.timeline.DiesWithClient(h) {
				t.stop(h, d.at.Add(2*t.ttl))
			}
		}
	case d.kind == history.Lapse, d.kind == history.ExtendFailed:
		if h.Granted && h.Expired() && !h.Extend.Open {
			t.stop(h, d.at.Add(t.ttl))
		}
	case d.outcome == history.OK || !h.Endless() || t.timeline.DiesWithClient(h):
		t.stop(h, d.at.Add(t.lingering(d.outcome)))
	}
}

func (t *tolerance) lingering(o history.Outcome) time.Duration {
	if o == history.OK {
		return 0
	}
	return t.ttl
}
