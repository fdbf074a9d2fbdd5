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

	// waiting holds back turns, in their order, behind one that is
	// tentative: the begin of a window that is not certain yet.
	waiting []turn
	gone    int // how many have left it
}

// maxWaiting bounds the turns that are held back. Beyond it the tentative
// window gives way: if its act still comes to something, it begins then. Each
// turn keeps a hold in memory, and acts that are never heard of again follow
// one another: with 4096 they cost four times as much.
const maxWaiting = 256

// span is a live window.
type span struct {
	hold *hold
	from history.Time
}

// take reports whether the turn can be judged at once, and otherwise puts it
// at the end of the line. It returns the place of a turn that is put there, from 1.
func (l *line) take(t *turn) (place int, now bool) {
	if len(l.waiting) == 0 && !t.tentative {
		return 0, true
	}
	l.waiting = append(l.waiting, *t)
	t.hold.lined++
	return l.gone + len(l.waiting), false
}

// next takes the first waiting turn off the line, if it is certain.
func (l *line) next() (turn, bool) {
	if len(l.waiting) == 0 || l.waiting[0].tentative {
		return turn{}, false
	}
	t := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.gone++
	t.hold.lined--
	return t, true
}

// crowded returns the hold whose tentative window has to give way, if any.
func (l *line) crowded() *hold {
	if len(l.waiting) <= maxWaiting {
		return nil
	}
	return l.waiting[0].hold
}

// confirm makes the tentative turn at a place certain.
func (l *line) confirm(place int) { l.waiting[place-l.gone-1].tentative = false }

// drop makes nothing of it. What comes of the end of its window, if that waits
// as well, is nothing either.
func (l *line) drop(place int) {
	t := &l.waiting[place-l.gone-1]
	t.kind, t.tentative = noTurn, false
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
