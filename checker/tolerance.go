package checker

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
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
// If a watch reports the nodes' keys, or a store's entries, it has to have got its answers meanwhile from
// every node that the client reached, and none as late as a try takes on average: a node that answers
// later is not in reach. That shows when the next answer comes.
type tolerance struct {
	tries int // how many must suffice; 0: not judged
	ttl   time.Duration
	nodes electorate // all nodes with one vote each, whatever the lock makes of them: else a lock on a single node would promise nothing

	state    *state
	faultLog *faultLog
	changed  history.Time   // the last change to any node or link
	unquiet  []history.Time // by node: the last change to it or to a link to it
	severed  []int          // by node: how many clients are cut off from it
	faulty   bool           // some node was out of some client's reach at some time
	returned []attempt      // in this instant
	called   []*hold        // tries, in this instant
	leaving  []departure    // in this instant
	cleared  []orphanKey    // keys that went away in this instant
	streaks  map[streakKey]streak
	pending  []openStreak // violations that rest on answers to watches, which are not there yet

	eligible int
	granted  int // of the fair tries
	breaches violations
}

// attempt is a try that has returned.
type attempt struct {
	hold    *hold
	call    history.Time
	at      history.Time // of its return
	granted bool
	holds   bool // granted, and not to a client that held the lock
}

// compare orders the tries that returned in one instant by their calls.
func (a attempt) compare(b attempt) int {
	return cmp.Or(cmp.Compare(a.call, b.call), strings.Compare(a.hold.token, b.hold.token))
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
	awaited   nodes // whose next answers are not there yet
	told      Finding
}

type streakKey struct {
	client   int
	resource string
}

// longAgo is before every instant of a history, with room to add to it.
const longAgo history.Time = math.MinInt64 / 2

func newTolerance(h history.Header, l *state, n *faultLog) propertyChecker {
	t := &tolerance{
		state: l, faultLog: n,
		tries: h.Bounds.Tries, ttl: h.LongestTTL, nodes: allAlike(h.Nodes),
		changed: longAgo, unquiet: make([]history.Time, h.Nodes+1), severed: make([]int, h.Nodes+1),
		streaks: map[streakKey]streak{},
	}
	for n := range t.unquiet {
		t.unquiet[n] = longAgo
	}
	return t
}

func (t *tolerance) wants() kinds {
	if t.tries == 0 {
		return 0
	}
	keys := kindSet(history.KeySet, history.KeyGone)
	if t.state.header.Watched {
		keys = kindSet(history.EntriesSeen) // keys are recorded late
	}
	return keys | kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Extended, history.Released, history.Lapse, history.Kill,
		history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp)
}

func (t *tolerance) observe(f *fact) {
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
		if f.hold != nil {
			t.returned = append(t.returned, attempt{f.hold, f.hold.acquire.at, f.Time, f.Kind == history.Granted, f.Kind == history.Granted})
		}
	case reentered:
		t.returned = append(t.returned, attempt{f.try, f.try.acquire.at, f.Time, true, false})
		f.hold.compete(f.Time)
	default:
		t.competitors(f)
	}
}

func (t *tolerance) change(f *fact) {
	t.changed, t.unquiet[f.Node] = f.Time, f.Time
	t.faulty = t.faulty || t.state.down != 0 || f.Kind == history.LinkDown
}

func (t *tolerance) sever(f *fact) {
	if f.changes {
		t.severed[f.Node]++
	}
	t.change(f)
}

func (t *tolerance) mend(f *fact) {
	if f.changes {
		t.severed[f.Node]--
	}
	t.change(f)
}

// settle judges the tries that returned in the instant. After that those that hold
// nothing compete no more.
func (t *tolerance) settle() {
	t.stopCompeting()
	for _, h := range t.called {
		t.obstruct(h)
	}
	slices.SortFunc(t.returned, attempt.compare)
	for _, a := range t.returned {
		t.judge(a)
	}
	for _, a := range t.returned {
		if !a.holds {
			a.hold.retreat(t.refusedUntil(a))
		}
	}
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
func (a attempt) cancelled() bool { return a.hold.client.cancelled >= a.call }

func (t *tolerance) judge(a attempt) {
	if t.state.down == 0 && a.hold.client.cut == 0 && len(t.streaks) == 0 {
		return
	}
	key := streakKey{a.hold.client.number, a.hold.resource.name}
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
	c := a.hold.client
	gone := t.state.down | c.cut
	reached := t.nodes.voters() &^ gone
	if gone == 0 || !t.nodes.has(reached) || t.changed >= a.call {
		return false
	}
	for n := range t.unquiet {
		if reached.has(n) && (t.severed[n] > 0 || t.unquiet[n].Add(t.ttl) > a.call) {
			return false
		}
	}
	if c.paused || c.turned >= a.call || a.cancelled() {
		return false
	}
	return a.hold.obstructed&reached == 0 && a.hold.resource.competitors.free(a)
}

func (t *tolerance) violate(a attempt, s streak) {
	client, r := a.hold.client, a.hold.resource.name
	reached := t.nodes.voters() &^ (t.state.down | client.cut)
	tell := func() Finding {
		refused := Event{Role: RoleWait, From: s.since, To: a.at, Client: client.number, Resource: r}
		return Finding{
			Events: []Event{refused.say("client %d was refused %s at %s in a row, from %s to %s, though it reached %s and nobody competed",
				client.number, quoted(r), counted(s.tries, "try"), at(s.since), at(a.at), t.nodes.share(reached))},
			Causes: t.causes(a, reached),
			Where:  &Place{Resource: r, Client: client.number, From: s.since, To: a.at},
		}
	}
	awaited := reached & t.state.watched()
	if awaited == 0 {
		t.breaches.add(tell)
		return
	}
	t.pending = append(t.pending, openStreak{since: s.since, at: a.at, tries: s.tries, awaited: awaited, told: tell()})
}

// answered judges by an answer to the watch of a node, or of the store, whether the node was in reach
// before: tries in a row do not count during which it answered as late as such a try takes on average.
func (t *tolerance) answered(f *fact) {
	whose := node(f.Node)
	if f.Node == 0 {
		whose = allNodes(t.state.header.Nodes)
	}
	late := func(since, at history.Time, tries int) bool {
		overlap := min(f.Time, at).Sub(max(f.waited, since))
		return overlap > 0 && overlap*time.Duration(tries) >= at.Sub(since)
	}
	for key, s := range t.streaks {
		if late(s.since, f.Time, s.tries) {
			t.eligible -= s.tries
			delete(t.streaks, key)
		}
	}
	t.pending = without(t.pending, func(c *openStreak) bool {
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

func (t *tolerance) causes(a attempt, reached nodes) []Cause {
	if lock := electorateOf(t.state.header); !lock.None() && !lock.has(reached) {
		missed, client := lock.voters()&^reached, a.hold.client.number
		return broken(KeepersReached, Event{Role: RoleFault, Client: client, Nodes: missed.listed(nil)}.say("client %d did not reach %v", client, missed))
	}
	if o := a.hold.outlived(t.nodes, a.at); o != nil {
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
