package checker

import "github.com/lockstorm/lockstorm/history"

// resourceWindows is what one rule has to remember of one resource: the windows that are
// live, and the latest instant that is not strictly inside any window.
//
// That instant is enough for rule (b). An empty window that is judged at now
// may choose p from [since, now]; the points of it that are inside no window
// are those up to free, and now itself while nothing is live. So there is a
// choice if and only if since <= free or nothing is live. free moves to the
// instant at which the last live window ends: that is a point of no window,
// even if the next one begins there, because windows that touch leave the
// point between them.
type resourceWindows struct {
	live []span
	free history.Time

	last *ended // the window that ended last, where an extension can begin one anew; nil: none has

	// waiting holds back turns, in their order from the first on, behind one that
	// is open: the begin of a window that is not certain yet.
	waiting []windowEvent
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

// ended is a window that is over, or one that is live, as far as it has come. Its hold may
// be forgotten since.
type ended struct {
	live  bool
	grant Grant
	acted bool // its acquire had not returned
	from  history.Time
	at    history.Time
	by    history.Kind
	kept  nodes       // that had the key of the hold
	fate  *keyHistory // of its keys
}

// take reports whether the turn can be judged at once, and otherwise puts it
// at the end of the line.
func (l *resourceWindows) take(t *windowEvent) bool {
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
func (l *resourceWindows) next() *windowEvent {
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
func (l *resourceWindows) crowded() *windowEvent {
	if len(l.waiting)-l.first <= maxWaiting {
		return nil
	}
	return &l.waiting[l.first]
}

func (l *resourceWindows) begin(t *windowEvent) {
	if len(l.live) == 0 {
		l.free = t.at
	}
	l.live = append(l.live, span{hold: t.hold, from: t.at})
	t.hold.lined++
}

// end ends the live window of the turn's hold, and returns it. There is none if what it
// would have begun with came to nothing.
func (l *resourceWindows) end(t *windowEvent) (over span, ever bool) {
	for i := range l.live {
		if l.live[i].hold == t.hold {
			over, ever = l.live[i], true
			l.live = cut(l.live, i)
			t.hold.lined--
			break
		}
	}
	if len(l.live) == 0 {
		l.free = t.at
	}
	return over, ever
}

// remember keeps the window that has ended last.
func (l *resourceWindows) remember(s span, t *windowEvent) {
	if l.last == nil {
		l.last = &ended{}
	}
	l.last.note(s, t)
}

// note makes of e a window as far as it has come at the turn. It is written field by field
// since it is so for every window, and asked for hardly ever.
func (e *ended) note(s span, t *windowEvent) {
	h := s.hold
	e.from, e.at, e.by = s.from, t.at, t.by
	e.acted, e.kept, e.fate = !h.returned, h.keys.set, h.keys.fate
	g := &e.grant
	g.Client, g.Resource, g.Token = h.client.number, h.resource.name, h.token
	g.Call, g.Granted, g.Validity = h.acquire.at, h.granted, h.validity
}

// interrupted returns the window that has ended last if that was after the last one of the
// hold whose window begins anew, or nil. It is then somebody else's, who relied on the lock
// while the hold was over that is now said to have gone on. Windows that are still live the
// one that begins meets anyway; of those that were over before they began, nobody relied on
// any.
func (l *resourceWindows) interrupted(over *past) *ended {
	if !over.ever || l.last == nil || l.last.at <= over.end {
		return nil
	}
	return l.last
}

// hasPoint reports whether rule (b) is kept by an empty window.
func (l *resourceWindows) hasPoint(t *windowEvent) bool { return len(l.live) == 0 || t.since <= l.free }

// contender returns a window of somebody else that took some of the time through which the
// hold of a claim says that it has gone on, or nil.
func (l *resourceWindows) contender(t *windowEvent) *ended {
	for _, s := range l.live {
		if s.from < t.at {
			e := &ended{live: true}
			e.note(s, t)
			return e
		}
	}
	return l.interrupted(&t.hold.past)
}
