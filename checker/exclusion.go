package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

const (
	// Lease says that no two clients hold the lock at once, counted by each grant's validity. An
	// extension is valid only if nobody else held the lock in between.
	Lease Property = "lease"
	// Section says that no two clients work under the lock at once, even if they check no clock. Each
	// works until it releases the lock or learns that it is lost.
	Section Property = "section"
)

// exclusion judges one rule as a stream. A history keeps it if and only if
//
//	(a) windows that are not empty are disjoint, and
//	(b) every grant with an empty window has a point p,
//	    max(call, window end) <= p <= return, that is not strictly inside
//	    another's window, and
//	(c) between two windows of one hold, the second begun by an extension, lies no
//	    window of another client that is not empty; nor between the last window
//	    of a hold and an extension of it that is granted and ends in one instant.
//
// A late extension is one violation of (c), however many windows lie in between.
//
// At the end of an instant the windows that end are judged first, then those that
// begin, then the empty ones. See [resourceWindows] for what has to be remembered.
type exclusion struct {
	rule
	index    int
	state    *state
	faultLog *faultLog
	now      history.Time
	events   []windowEvent // of this instant; without a kind until they are gathered

	windows int // how many began
	empty   int // how many ended before they began
	first   *violation
	count   int

	doubt *Finding // why an overlap may have been missed

	each func(Window) // nil: nobody asked
}

func newLease(_ history.Header, l *state, n *faultLog) propertyChecker {
	return newExclusion(leaseRule, l, n)
}

func newSection(_ history.Header, l *state, n *faultLog) propertyChecker {
	return newExclusion(sectionRule, l, n)
}

func newExclusion(index int, l *state, n *faultLog) *exclusion {
	return &exclusion{rule: rules[index], index: index, state: l, faultLog: n}
}

func (x *exclusion) wants() kinds {
	heard := kindSet(history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Write, history.WriteDone, history.Apply, reentered) | x.ends
	if x.state.header.Keepers < 0 {
		heard |= kindSet(history.Kill)
	}
	if x.ends.has(history.Kill) {
		heard |= kindSet(history.Acquire) // it may come in the instant in which its client dies
	}
	return heard
}

func (x *exclusion) observe(f *fact) {
	x.now = f.Time
	h := f.hold
	if h == nil {
		x.endAllBy(f)
		return
	}
	switch f.Kind {
	case history.Granted:
		x.granted(h)
	case history.Refused:
		if len(h.windows[x.index].implied) > 0 {
			x.forget(h)
		}
	case history.Extend, history.Write:
		x.act(h, f)
	case history.ExtendFailed:
		x.fail(h, history.Extend, 0)
	case history.Extended:
		x.succeed(h, history.Extend, 0)
		x.renew(h, f)
	case reentered:
		x.renew(h, f)
	case history.Apply:
		x.succeed(h, history.Write, f.Value)
	case history.WriteDone:
		x.written(h, f)
	case history.Release, history.Lost, history.Expiring:
		x.end(h, f.Time, f.Kind)
	}
	if h.expired() && x.ends.has(history.Lapse) {
		x.endBegun(h)
	}
	if h.client.dead && (x.ends.has(history.Kill) || x.state.tied(h)) {
		x.end(h, x.now, history.Kill) // it was called and died in one instant
	}
}

// settle judges the instant that is over.
func (x *exclusion) settle() {
	turns := x.events
	for i := range turns {
		turns[i].gather(x)
	}
	if len(turns) > 1 {
		slices.SortFunc(turns, windowEvent.compare)
	}
	for i := range turns {
		x.take(&turns[i])
	}
	x.events = turns[:0]
}

// take judges the event, now or when those before it are certain.
func (x *exclusion) take(t *windowEvent) {
	if t.kind == noTurn {
		return
	}
	l := x.line(t.hold)
	if l.take(t) {
		x.judge(l, t)
	} else if t := l.crowded(); t != nil {
		x.yield(t.hold, t.implied)
	}
}

// gather sets the event to what happened to its hold's window in this instant, once.
func (t *windowEvent) gather(x *exclusion) {
	w := &t.hold.windows[x.index]
	switch {
	case t.kind != noTurn:
		return
	case t.implied != nil:
		t.kind = w.beginning(t.implied)
	case w.fresh || w.closing:
		t.kind = w.change(t.hold)
		w.fresh, w.closing = false, false
	}
	t.at, t.since, t.by = x.now, max(w.call, w.end), w.by
}

func (x *exclusion) line(h *hold) *resourceWindows { return &h.resource.windows[x.index] }

// drain judges the events that waited for a call that has now succeeded or failed.
func (x *exclusion) drain(l *resourceWindows) {
	for {
		t := l.next()
		if t == nil {
			return
		}
		x.judge(l, t)
		x.state.reuse(t.hold)
	}
}

func (x *exclusion) judge(l *resourceWindows, t *windowEvent) {
	switch t.kind {
	case windowEnds:
		x.judgeEnd(l, t)
	case windowBegins:
		x.windows++
		if was := l.interrupted(&t.hold.past); was != nil {
			x.violateGap(was, t)
		}
		for i := range l.live {
			x.violate(l.live[i], t)
		}
		l.begin(t)
	case windowEmpty:
		x.windows++
		x.empty++
		if x.beginsAnew() {
			t.hold.past = past{ever: true, from: t.at, end: t.at}
		}
		if x.each != nil {
			x.each(Window{Grant: t.grant(), Fence: t.hold.fence, Call: t.since, From: t.at, To: t.at, Empty: true, By: t.by})
		}
		if !l.hasPoint(t) {
			x.violate(l.live[0], t)
		}
	case extendedLate:
		if t.hold.past.end == t.at {
			return // it was granted and ended in this instant
		}
		x.windows++
		if x.each != nil {
			x.each(x.claimOf(t))
		}
		if other := l.contender(t); other != nil {
			x.violateGap(other, t)
		}
	}
}

// judgeEnd ends a window, if there is one. A failed call began none.
func (x *exclusion) judgeEnd(l *resourceWindows, t *windowEvent) {
	if over, ever := l.end(t); ever {
		if x.each != nil {
			x.each(x.windowOf(over, t.at, t.by))
		}
		if x.beginsAnew() {
			t.hold.past = past{ever: true, from: over.from, end: t.at}
			l.remember(over, t)
		}
	}
	if x.first != nil {
		x.first.ended(t)
	}
}

// maxClashes bounds the conflicts that are kept of a resource. Findings of lost updates name
// them as their cause.
const maxClashes = 16

// violate counts a violation of (a) or (b): the window of the event overlaps a live one.
func (x *exclusion) violate(held span, t *windowEvent) {
	if x.undecided(held.hold, t.hold.client.number, t.at) {
		return
	}
	if c := x.conflict(held.hold, t.hold.contender(), t.at); c != nil && x.first == nil {
		x.first = newViolation(x.rule, held, t, x.faultLog, c)
	}
}

// violateGap counts a violation of (c): the event begins a window of its hold anew.
func (x *exclusion) violateGap(was *ended, t *windowEvent) {
	if c := x.conflict(t.hold, was.contender(), t.at); c != nil && x.first == nil {
		x.first = newInterrupted(x.rule, was, t, x.faultLog, c)
	}
}

// conflict counts a violation, and describes it if a finding may need that.
func (x *exclusion) conflict(held *hold, came contender, now history.Time) *conflict {
	x.count++
	r := held.resource
	known := x.index != leaseRule || len(r.conflicts) == maxClashes
	if x.first != nil && known {
		return nil
	}
	c := x.newConflict(held, came, now)
	if !known {
		r.conflicts = append(r.conflicts, c)
	}
	return c
}

func (x *exclusion) finding(end history.Time) Finding {
	x.giveUp()
	if x.each != nil {
		x.tellOpen(end)
	}
	switch {
	case x.first != nil:
		x.first.seal(end)
		f := x.first.finding()
		f.Count = x.count
		return f
	case x.windows == 0:
		return notExercised(NotApplicable, "nobody was granted the lock")
	case x.doubt != nil:
		return *x.doubt
	}
	held := Event{Role: RoleAccess}.say("%s, and no two overlap", counted(x.windows, x.window))
	if x.empty > 0 {
		held.Text += fmt.Sprintf("; over before the grant returned: %d", x.empty)
	}
	return because(Holds, held)
}

// interruption describes a late extension: a hold ended, another client held the lock, and
// then an extension of the first hold was granted. The pair of the violation is the two
// holds, with the time in which both were held, if there is one.
type interruption struct {
	empty bool         // the first hold ended before it began
	over  history.Time // when the first hold ended
	from  history.Time // when the other hold began
	held  *ending      // of the other hold; nil: it went on
	live  bool         // the other hold went on when the extension returned
	at    history.Time // when the extension returned
}

func newInterrupted(r rule, was *ended, t *windowEvent, n *faultLog, c *conflict) *violation {
	before := t.hold.past
	own, other := span{hold: t.hold, from: before.from}, was.grant
	var held *ending
	if !was.live {
		held = &ending{was.by, other.Client, was.at}
	}
	if was.acted {
		other.Granted = was.from
	}
	v := &violation{
		rule: r, since: before.from, conflict: c,
		pair: Pair{First: own.grant(), Second: other, From: max(before.end, was.from), To: was.at},
		got:  [2]string{got(t.hold, before.from), gotAs(was.acted, was.grant.Granted, was.from)},
		gap: &interruption{
			empty: before.from == before.end, over: before.end,
			from: was.from, live: was.live, held: held, at: t.at,
		},
	}
	v.faults = n.between(v.pair.First.Call, t.at)
	return v
}

// interrupted describes a hold that ended and was extended late.
func (v *violation) interrupted() []Event {
	a, b, l := &v.pair.First, &v.pair.Second, v.gap
	own, other := began(a, v.got[0], v.since), began(b, v.got[1], l.from)
	if l.empty {
		own.Text += " with nothing left of it"
	} else {
		own.To = l.over
		own.Text += fmt.Sprintf(" and held it %v", ending{history.Lapse, a.Client, l.over})
	}
	late := Event{Role: RoleOverlap, From: l.at, Client: a.Client, Resource: a.Resource, Token: a.Token}
	only := "only then, "
	if l.live {
		only = ""
	}
	if l.held == nil {
		other.Text += " and held it beyond that"
	} else {
		other.To = l.held.at
		other.Text += fmt.Sprintf(" and held it %v", l.held)
	}
	since := after(v.faults, v.since)
	told := append(eventsOf(v.faults, v.since, false), own)
	told = append(told, eventsOf(since, l.from, false)...)
	told = append(told, other)
	told = append(told, eventsOf(since, l.from, true)...)
	return append(told, late.say("%sat %s, client %d was granted more time, as if it had held it all along", only, at(l.at), a.Client))
}
