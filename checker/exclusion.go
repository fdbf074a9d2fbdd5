package checker

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

const (
	// Lease says that the windows in which clients may rely on the lock, until its
	// validity ends, do not overlap.
	Lease Property = "lease"
	// Section says that nor do the sections of clients that look at no clock.
	Section Property = "section"
)

// exclusion judges one rule as a stream. A history keeps it if and only if
//
//	(a) windows that are not empty are disjoint, and
//	(b) every grant with an empty window has a point p,
//	    max(call, window end) <= p <= return, that is not strictly inside
//	    another's window.
//
// The events of an instant are gathered; at its end the windows that end are
// taken first, then those that begin, then the empty ones. See [line] for what
// has to be remembered.
type exclusion struct {
	rule
	index   int
	ledger  *ledger
	notes   *notes
	now     history.Time
	touched []*hold // whose window changed in this instant
	turns   []turn  // of this instant

	windows int // that were begun
	empty   int // that were over before they began
	first   *violation
	count   int

	each func(Window) // nil: nobody wants to be told
}

func newLease(_ history.Header, l *ledger, n *notes) judge { return newExclusion(leaseRule, l, n) }

func newSection(_ history.Header, l *ledger, n *notes) judge { return newExclusion(sectionRule, l, n) }

func newExclusion(index int, l *ledger, n *notes) *exclusion {
	return &exclusion{rule: rules[index], index: index, ledger: l, notes: n}
}

func (x *exclusion) hears() kinds {
	return kindSet(history.Acquire, history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Write, history.WriteDone, history.Apply) | x.ends
}

func (x *exclusion) observe(f *fact) {
	x.now = f.Time
	h := f.hold
	switch f.Kind {
	case history.Granted:
		x.begin(h, h.acquire.at, false)
	case history.Refused:
		x.cancel(h)
	case history.ExtendFailed:
		x.fail(h)
	case history.Extend, history.Write:
		x.act(h)
	case history.Extended:
		x.renew(h, f)
	case history.Apply:
		x.confirm(h)
	case history.WriteDone:
		x.written(h, f.Outcome)
	}
	if x.ends.has(f.Kind) {
		x.endBy(f)
	}
	if h != nil && x.ends.has(history.Lapse) && h.expired() {
		x.endBegun(h)
	}
	if h != nil && x.ends.has(history.Kill) && h.client.dead {
		x.end(h, x.now, history.Kill) // it was called and died in one instant
	}
}

// settle judges the instant that is over.
func (x *exclusion) settle() {
	if len(x.touched) == 0 {
		return
	}
	for _, h := range x.touched {
		x.gather(h)
	}
	x.touched = x.touched[:0]
	if len(x.turns) > 1 {
		slices.SortFunc(x.turns, turn.compare)
	}
	for i := range x.turns {
		l := x.line(x.turns[i].hold)
		if l.take(x.turns[i]) {
			x.judge(l, x.turns[i])
		} else if h := l.crowded(); h != nil {
			x.cancel(h)
		}
	}
	x.turns = x.turns[:0]
}

// gather makes a turn of what has happened to the hold's window in this
// instant.
func (x *exclusion) gather(h *hold) {
	w := &h.windows[x.index]
	t := turn{hold: h, at: x.now, tentative: w.tentative, by: w.by}
	switch {
	case w.fresh && w.over && w.anew:
		w.fresh, w.closing = false, false
		return
	case w.fresh && w.over:
		t.kind, t.since = emptyTurn, max(w.call, w.end)
	case w.fresh:
		t.kind = beginTurn
	case w.closing && w.begun:
		t.kind = endTurn
		t.tentative = false
	default:
		return
	}
	w.fresh, w.closing = false, false
	x.turns = append(x.turns, t)
}

func (x *exclusion) line(h *hold) *line { return &h.resource.lines[x.index] }

// drain judges what had to wait for an act that has now come to something, or
// to nothing.
func (x *exclusion) drain(l *line) {
	for {
		t, ok := l.next()
		if !ok {
			return
		}
		x.judge(l, t)
	}
}

func (x *exclusion) judge(l *line, t turn) {
	switch t.kind {
	case endTurn:
		if x.each != nil {
			x.each(x.closed(l, t))
		}
		l.end(t)
		x.first.ended(t)
	case beginTurn:
		x.windows++
		for i := range l.live {
			x.violate(l.live[i], t)
		}
		l.begin(t)
	case emptyTurn:
		x.windows++
		x.empty++
		if x.each != nil {
			x.each(Window{Grant: t.grant(), Fence: t.hold.fence, Call: t.since, From: t.at, To: t.at, Empty: true, By: t.by})
		}
		if !l.hasPoint(t) {
			x.violate(l.live[0], t)
		}
	}
}

// maxClashes bounds the clashes that are kept of a resource, for the stories of what
// came of them.
const maxClashes = 16

func (x *exclusion) violate(held span, t turn) {
	x.count++
	r := held.hold.resource
	known := x.index != leaseRule || len(r.clashes) == maxClashes
	if x.first != nil && known {
		return
	}
	c := x.newClash(held.hold, t.hold, t.at)
	if !known {
		r.clashes = append(r.clashes, c)
	}
	if x.first == nil {
		x.first = newViolation(x.rule, held, t, x.notes, c)
	}
}

// giveUp drops the acts of which nothing was heard again.
func (x *exclusion) giveUp() {
	for _, c := range x.ledger.clients {
		for _, h := range c.holds {
			x.cancel(h)
		}
	}
}

func (x *exclusion) finding(end history.Time) Finding {
	x.giveUp()
	if x.each != nil {
		x.tellOpen(end)
	}
	f := Finding{Count: x.count}
	if x.first != nil {
		x.first.seal(end)
		f.Verdict, f.Story, f.First, f.Where = Violated, x.first.story(), &x.first.pair, x.first.where()
		return f
	}
	if x.windows == 0 {
		f.Verdict, f.Story = NotApplicable, "nobody was granted the lock"
		return f
	}
	f.Verdict = Holds
	f.Story = fmt.Sprintf("%s, and no two overlap", counted(x.windows, x.window))
	if x.empty > 0 {
		f.Story += fmt.Sprintf("; over before the grant returned: %d", x.empty)
	}
	return f
}
