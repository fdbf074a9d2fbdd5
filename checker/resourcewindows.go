package checker

import "github.com/lockstorm/lockstorm/history"

// resourceWindows is what a rule remembers about one resource: the live windows, and the
// latest instant that is not strictly inside any window.
//
// That instant suffices for rule (b). An empty window judged at now may choose p from
// [since, now]. The points inside no window are those up to free, and now itself if no
// window is live. So there is a choice if and only if since <= free or no window is live.
// free moves to the instant at which the last live window ends. That point is inside no
// window, even if the next one begins there, because windows are half-open.
type resourceWindows struct {
	live []span
	free history.Time

	last *ended // the window that ended last, if extensions can begin windows anew; nil: none

	// waiting holds back events, from first on, behind one that is open: the start of a
	// window that is not certain yet.
	waiting []windowEvent
	first   int
}

// maxWaiting bounds the events that are held back. Beyond it the open one is skipped. If its
// call succeeds after all, an overlap may have been missed, and the verdict is unknown. Each
// waiting event keeps a hold in memory; a bound of 4096 costs four times as much.
const maxWaiting = 256

// span is a live window.
type span struct {
	hold *hold
	from history.Time
}

// ended is a copy of a window that has ended, or of a live one. Its hold may have been
// retired.
type ended struct {
	live  bool
	grant Grant
	acted bool // its acquire had not returned
	from  history.Time
	at    history.Time
	by    history.Kind
	kept  nodes       // nodes with the hold's key
	voted nodes       // nodes that had it when it was granted
	fate  *keyHistory // of the hold
}

// take reports whether the event can be judged at once. If not, it adds it to waiting.
func (l *resourceWindows) take(t *windowEvent) bool {
	if len(l.waiting) == 0 && !t.open() {
		return true
	}
	if len(l.waiting) == cap(l.waiting) && 2*l.first >= len(l.waiting) {
		l.waiting, l.first = append(l.waiting[:0], l.waiting[l.first:]...), 0
	}
	l.waiting = append(l.waiting, *t)
	t.hold.references++
	return false
}

// next removes the first waiting event and returns it, unless it is open. It is valid until
// the next call of take.
func (l *resourceWindows) next() *windowEvent {
	if l.first == len(l.waiting) {
		l.waiting, l.first = l.waiting[:0], 0
		return nil
	}
	t := &l.waiting[l.first]
	if t.open() {
		return nil
	}
	if t.implied != nil && t.implied.void {
		t.kind = noTurn
	}
	l.first++
	t.hold.references--
	return t
}

// crowded returns the open event that has to be skipped, or nil.
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
	t.hold.references++
}

// end ends the live window of the event's hold and returns it. There is none if the call
// that would have begun it failed.
func (l *resourceWindows) end(t *windowEvent) (over span, ever bool) {
	for i := range l.live {
		if l.live[i].hold == t.hold {
			over, ever = l.live[i], true
			l.live = cut(l.live, i)
			t.hold.references--
			break
		}
	}
	if len(l.live) == 0 {
		l.free = t.at
	}
	return over, ever
}

// remember keeps the window that ended last.
func (l *resourceWindows) remember(s span, t *windowEvent) {
	if l.last == nil {
		l.last = &ended{}
	}
	l.last.note(s, t)
}

// note copies a window as it is at the event. It sets field by field, because it runs for
// every window.
func (e *ended) note(s span, t *windowEvent) {
	h := s.hold
	e.from, e.at, e.by = s.from, t.at, t.by
	e.acted, e.kept, e.voted, e.fate = !h.returned, h.keys.set, h.voted(), h.keys.fate
	g := &e.grant
	g.Client, g.Resource, g.Token = h.client.number, h.resource.name, h.token
	g.Call, g.Granted, g.Validity = h.acquire.at, h.granted, h.first.left
}

// interrupted returns the window that ended last, if it ended after the last window of a
// hold that begins a window anew, or nil. It belongs to another client, which held the lock
// while the extended hold was over. Live windows overlap the new one anyway. Nobody relied
// on empty windows.
func (l *resourceWindows) interrupted(over *past) *ended {
	if !over.ever || l.last == nil || l.last.at <= over.end {
		return nil
	}
	return l.last
}

// hasPoint reports whether rule (b) is kept by an empty window.
func (l *resourceWindows) hasPoint(t *windowEvent) bool { return len(l.live) == 0 || t.since <= l.free }

// contender returns a window of another client in the time in which the hold of a late
// extension claims to have gone on, or nil.
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
