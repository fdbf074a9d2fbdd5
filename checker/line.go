package checker

import "github.com/lockstorm/lockstorm/history"

// line is what one rule has to remember of one resource: the windows that are
// live, and the latest instant that is not strictly inside any window.
//
// That instant is enough for rule (b). An empty window that is judged at now
// may choose p from [since, now]; the points of it that are inside no window
// are those up to free, and now itself while nothing is live. So there is a
// choice if and only if since <= free or nothing is live. free moves to the
// instant at which the last live window ends: that is a point of no window,
// even if the next one begins there, because windows that touch leave the
// point between them.
type line struct {
	live []span
	free history.Time

	// waiting holds back turns, in their order from the first on, behind one that
	// is open: the begin of a window that is not certain yet.
	waiting []turn
	first   int
}

// maxWaiting bounds the turns that are held back. Beyond it the open one gives
// way: if its act still comes to something, what it met has not been seen, and
// the verdict is unknown. Each turn keeps a hold in memory, and acts that are
// never heard of again follow one another: with 4096 they cost four times as much.
const maxWaiting = 256

// span is a live window.
type span struct {
	hold *hold
	from history.Time
}

// take reports whether the turn can be judged at once, and otherwise puts it
// at the end of the line.
func (l *line) take(t *turn) bool {
	if len(l.waiting) == 0 && !t.open() {
		return true
	}
	if len(l.waiting) == cap(l.waiting) && 2*l.first >= len(l.waiting) {
		l.waiting, l.first = append(l.waiting[:0], l.waiting[l.first:]...), 0
	}
	l.waiting = append(l.waiting, *t)
	t.hold.lined++
	return false
}

// next takes the first waiting turn off the line, if it is not open. It is good until the
// next is put there.
func (l *line) next() *turn {
	if l.first == len(l.waiting) {
		l.waiting, l.first = l.waiting[:0], 0
		return nil
	}
	t := &l.waiting[l.first]
	if t.open() {
		return nil
	}
	if t.act != nil && t.act.void {
		t.kind = noTurn
	}
	l.first++
	t.hold.lined--
	return t
}

// crowded returns the open turn that has to give way, if any.
func (l *line) crowded() *turn {
	if len(l.waiting)-l.first <= maxWaiting {
		return nil
	}
	return &l.waiting[l.first]
}

func (l *line) begin(t *turn) {
	if len(l.live) == 0 {
		l.free = t.at
	}
	l.live = append(l.live, span{hold: t.hold, from: t.at})
	t.hold.lined++
}

func (l *line) end(t *turn) {
	for i := range l.live {
		if l.live[i].hold == t.hold {
			l.live = cut(l.live, i)
			t.hold.lined--
			break
		}
	}
	if len(l.live) == 0 {
		l.free = t.at
	}
}

// hasPoint reports whether rule (b) is kept by an empty window.
func (l *line) hasPoint(t *turn) bool { return len(l.live) == 0 || t.since <= l.free }
