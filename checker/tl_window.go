package checker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// windowKind says how the time is counted in which a hold excludes others. Every window begins when acquire
// returns.
type windowKind int

const (
	// leaseWindow ends with the release, a loss, or the end of validity.
	leaseWindow windowKind = iota
	// sectionWindow is the time in which the holder works: until its release, or until it learns that the
	// lock is lost, or is about to be.
	sectionWindow
	windowKinds
)

// windowEnds are the kinds of events that end a window, by its kind.
var windowEnds = [windowKinds]kinds{
	leaseWindow:   kindSet(history.Release, history.Lost, history.Lapse),
	sectionWindow: kindSet(history.Release, history.Lost, history.Expiring, history.Kill, history.End),
}

// window is the time in which a hold excludes others, as far as it is known: half-open.
type window struct {
	begun     bool
	over      bool
	tentative bool // begun by a call of a holder whose acquire has not returned; the call may fail
	anew      bool // begun by an extension, after the hold had lapsed

	// fresh, closing: it began, or ended, in this instant.
	fresh   bool
	closing bool
	by      history.Kind // what ended it

	barred history.Time // when its holder ended it after its validity; no later extension continues it

	implied []*impliedGrant // calls with which it may have begun, in their order

	call history.Time // of acquire, or of the extension that began it anew
	from history.Time
	end  history.Time
}

// empty reports whether the window ended before it began, or when it did.
func (w *window) empty() bool { return w.begun && w.over && w.end <= w.from }

// pastWindow is the last ended lease window of a hold.
type pastWindow struct {
	ever bool
	from history.Time
	end  history.Time // of an empty window: from
}

// windowChange is what happens to the window of a hold.
type windowChange uint8

// The changes, in the order in which they take place in an instant.
const (
	unchanged    windowChange = iota
	windowEnded               // Span is the window
	windowBegan               // others that are live go on
	windowEmpty               // it ended before it began
	extendedLate              // a late extension was granted, and its hold ended in the same instant
)

// windowEvent is the begin or the end of a window.
type windowEvent struct {
	change windowChange
	hold   *hold
	at     history.Time
	since  history.Time // of an empty window: from then on the lock had to be free at some instant
	by     history.Kind // what ended the window
	began  history.Time // when the window began that has ended
	none   bool         // no window has ended: the call that would have begun it failed

	implied *impliedGrant // the call with which the window may have begun; nil: it is certain
}

// open reports whether it is unknown yet if the event takes place.
func (e *windowEvent) open() bool { return e.implied != nil && e.implied.open() }

// compare orders the events of one instant, so that the order in which they were recorded
// makes no difference.
func (e windowEvent) compare(other windowEvent) int {
	if e.change != other.change {
		return cmp.Compare(e.change, other.change)
	}
	return cmp.Or(
		cmp.Compare(e.hold.client.number, other.hold.client.number),
		strings.Compare(e.hold.token, other.hold.token),
		cmp.Compare(e.since, other.since),
	)
}

// windowObserver receives the begins and ends of windows of one kind. Those of a resource come in the order of
// time, and those of one instant in the order of [windowChange]. An event can come late: when it is certain
// that those before it took place.
type windowObserver interface {
	window(e *windowEvent)
	missed(w missedWindow)
}

// span is a live window.
type span struct {
	hold *hold
	from history.Time
}

// windows follows the windows of one kind.
type windows struct {
	kind   windowKind
	ends   kinds
	wants  kinds // events that it follows; none: nobody asks for these windows
	state  *state
	events []windowEvent // of this instant; without a change until they are gathered

	observer windowObserver // nil: nobody wants to be told
	each     func(Window)   // nil: the same
}

// missedWindow is a window that was taken for one which never began, because too much had to wait until it was
// certain. It did begin.
type missedWindow struct {
	resource, token string
	client          int
	call            history.Kind // that shows it
	from, known     history.Time
}

// follow makes somebody ask for these windows.
func (x *windows) follow() {
	x.wants = kindSet(history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Write, history.WriteDone, history.Apply, reentered) | x.ends
	if x.state.header.Keepers < 0 {
		x.wants |= kindSet(history.Kill)
	}
	if x.ends.has(history.Kill) {
		x.wants |= kindSet(history.Acquire) // it may come in the instant in which its client dies
	}
}

// beginAnew reports whether an extension can begin a window anew: see [windows.renew].
func (x *windows) beginAnew() bool { return x.ends.has(history.Lapse) }

func (x *windows) observe(f *fact) {
	h := f.hold
	if h == nil {
		x.endAllBy(f)
		return
	}
	switch f.Kind {
	case history.Granted:
		x.granted(h)
	case history.Refused:
		if len(h.windows[x.kind].implied) > 0 {
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
		x.end(h, x.state.now, history.Kill) // it was called and died in one instant
	}
}

// endAllBy ends the windows of all holds that a death, or the end of the history, ends.
func (x *windows) endAllBy(f *fact) {
	switch f.Kind {
	case history.Kill:
		x.endAll(f.client, f.Kind)
	case history.End:
		for _, c := range x.state.clients {
			x.endAll(c, f.Kind)
		}
	}
}

func (x *windows) endAll(c *client, by history.Kind) {
	for _, h := range c.holds {
		if x.ends.has(by) || x.state.tied(h) {
			x.end(h, x.state.now, by)
		}
	}
}

// endBegun ends a window whose validity is over. Before acquire returns the end is unknown,
// so that a window that has not begun does not end.
func (x *windows) endBegun(h *hold) {
	w := &h.windows[x.kind]
	switch {
	case !w.begun:
	case w.from == x.state.now:
		x.end(h, h.expiry(), history.Lapse)
	default:
		x.end(h, x.state.now, history.Lapse)
	}
}

func (x *windows) end(h *hold, at history.Time, by history.Kind) {
	w := &h.windows[x.kind]
	if w.over {
		if w.by == history.Lapse && by != history.Lapse {
			w.by, w.barred = by, x.state.now // no later extension continues it
		}
		w.end = min(w.end, at)
		return
	}
	w.over, w.closing, w.end, w.by = true, true, at, by
	x.touch(h)
}

func (x *windows) touch(h *hold) { x.events = append(x.events, windowEvent{hold: h}) }

// begin begins the hold's window now.
func (x *windows) begin(h *hold, call history.Time) {
	w := &h.windows[x.kind]
	w.begun, w.fresh = true, true
	w.call, w.from = call, x.state.now
	x.touch(h)
}

// granted begins the window of a try that returns, unless a call has begun it before.
func (x *windows) granted(h *hold) {
	w := &h.windows[x.kind]
	if len(w.implied) > 0 {
		x.forget(h)
	}
	if !w.begun {
		x.begin(h, h.acquire.at)
	}
}

// renew continues the hold to its new end. If the extension is granted after the old end, a
// new window of the same hold begins: in between nobody could rely on the hold. An extension whose own
// validity is over when it returns counts as failed.
//
// This applies to lease windows. A section window ends by a release, a loss, a warning or a death,
// which no extension takes back. It does not end with the validity, so that a grant to
// another client after the lapse overlaps it.
func (x *windows) renew(h *hold, f *fact) {
	w := &h.windows[x.kind]
	switch {
	case w.over && w.barred == x.state.now && w.end < x.state.now: // events of one instant have no order
		by := w.by
		x.renewed(h, f)
		x.end(h, x.state.now, by)
	case !w.over || w.by != history.Lapse:
	case w.end == x.state.now:
		w.over, w.closing = false, false
	default:
		x.renewed(h, f)
	}
}

// renewed begins a new window of a hold by an extension.
func (x *windows) renewed(h *hold, f *fact) {
	for i := range x.events {
		if e := &x.events[i]; e.hold == h {
			x.gather(e)
		}
	}
	w := &h.windows[x.kind]
	*w = window{anew: true, implied: w.implied}
	x.begin(h, f.call.at)
}

// settle passes on the events of an instant that is over.
func (x *windows) settle() {
	events := x.events
	for i := range events {
		x.gather(&events[i])
	}
	if len(events) > 1 {
		slices.SortFunc(events, windowEvent.compare)
	}
	for i := range events {
		x.take(&events[i])
	}
	x.events = events[:0]
}

// gather sets the event to what happened to its hold's window in this instant, once.
func (x *windows) gather(e *windowEvent) {
	w := &e.hold.windows[x.kind]
	switch {
	case e.change != unchanged:
		return
	case e.implied != nil:
		e.change = w.beginning(e.implied)
	case w.fresh || w.closing:
		e.change = w.change(e.hold)
		w.fresh, w.closing = false, false
	}
	e.at, e.since, e.by = x.state.now, max(w.call, w.end), w.by
}

// change returns what happened to the window of a hold in the instant. An extension whose
// own validity was over when it returned changes nothing. An extension that was granted and
// ended by its holder in one instant still claims that the hold had gone on until then.
func (w *window) change(h *hold) windowChange {
	switch {
	case w.fresh && w.over && w.anew && h.expired() && h.expiry() <= w.from:
		return unchanged
	case w.fresh && w.over && w.anew:
		return extendedLate
	case w.fresh && w.over:
		return windowEmpty
	case w.fresh:
		return windowBegan
	case w.closing && w.begun:
		return windowEnded
	}
	return unchanged
}

// beginning returns what happened in the instant of a call, if the window begins with that
// call.
func (w *window) beginning(a *impliedGrant) windowChange {
	switch {
	case a.void:
		return unchanged
	case w.over:
		return windowEmpty
	}
	return windowBegan
}

// take passes the event on, now or when those before it are certain.
func (x *windows) take(e *windowEvent) {
	if e.change == unchanged {
		return
	}
	q := x.queue(e.hold)
	if q.take(e) {
		x.pass(q, e)
	} else if open := q.crowded(); open != nil {
		x.yield(open.hold, open.implied)
	}
}

// drain passes on the events that waited for a call that has now succeeded or failed.
func (x *windows) drain(q *windowQueue) {
	for {
		e := q.next()
		if e == nil {
			return
		}
		x.pass(q, e)
		x.state.reuse(e.hold)
	}
}

// pass passes on an event that is certain. Its observer finds the windows that were live before.
func (x *windows) pass(q *windowQueue, e *windowEvent) {
	past := &e.hold.past
	switch e.change {
	case windowEnded:
		e.began, e.none = q.end(e.hold)
		x.observed(e)
		if !e.none && x.beginAnew() {
			*past = pastWindow{ever: true, from: e.began, end: e.at}
		}
	case windowBegan:
		x.observed(e)
		q.begin(e)
	case windowEmpty:
		if x.beginAnew() {
			*past = pastWindow{ever: true, from: e.at, end: e.at}
		}
		x.observed(e)
	case extendedLate:
		if past.end != e.at { // else it was granted and ended in this instant
			x.observed(e)
		}
	}
}

func (x *windows) observed(e *windowEvent) {
	if x.each != nil && e.change != windowBegan && !e.none {
		x.each(x.windowOf(e))
	}
	if x.observer != nil && e.change != unchanged {
		x.observer.window(e)
	}
}

// finish passes on what can be said when the history ends.
func (x *windows) finish(end history.Time) {
	x.giveUp()
	if x.each == nil {
		return
	}
	for _, r := range x.state.inOrder() {
		for _, s := range r.windows[x.kind].live {
			x.each(x.windowOf(&windowEvent{change: windowEnded, hold: s.hold, at: end, began: s.from}))
		}
	}
}

// windowQueue is the live windows of a resource, and the events that have to wait.
type windowQueue struct {
	live []span

	// waiting holds back events, from first on, behind one that is open: the start of a
	// window that is not certain yet.
	waiting []windowEvent
	first   int
}

// maxWaiting bounds the events that are held back. Beyond it the open one is skipped. If its
// call succeeds after all, an overlap may have been missed: see [missedWindow]. Each
// waiting event keeps a hold in memory; a bound of 4096 costs four times as much.
const maxWaiting = 256

func (x *windows) queue(h *hold) *windowQueue { return &h.resource.windows[x.kind] }

// take reports whether the event is certain. If not, it adds it to waiting.
func (q *windowQueue) take(e *windowEvent) bool {
	if len(q.waiting) == 0 && !e.open() {
		return true
	}
	if len(q.waiting) == cap(q.waiting) && 2*q.first >= len(q.waiting) {
		q.waiting, q.first = append(q.waiting[:0], q.waiting[q.first:]...), 0
	}
	q.waiting = append(q.waiting, *e)
	e.hold.references++
	return false
}

// next removes the first waiting event and returns it, unless it is open. It is valid until
// the next call of take.
func (q *windowQueue) next() *windowEvent {
	if q.first == len(q.waiting) {
		q.waiting, q.first = q.waiting[:0], 0
		return nil
	}
	e := &q.waiting[q.first]
	if e.open() {
		return nil
	}
	if e.implied != nil && e.implied.void {
		e.change = unchanged
	}
	q.first++
	e.hold.references--
	return e
}

// crowded returns the open event that has to be skipped, or nil.
func (q *windowQueue) crowded() *windowEvent {
	if len(q.waiting)-q.first <= maxWaiting {
		return nil
	}
	return &q.waiting[q.first]
}

func (q *windowQueue) begin(e *windowEvent) {
	q.live = append(q.live, span{hold: e.hold, from: e.at})
	e.hold.references++
}

// end ends the live window of a hold, and returns when it began. There is none if the call
// that would have begun it failed.
func (q *windowQueue) end(h *hold) (began history.Time, none bool) {
	for i, s := range q.live {
		if s.hold == h {
			q.live = cut(q.live, i)
			h.references--
			return s.from, false
		}
	}
	return 0, true
}

// impliedGrant is a call that only a holder makes (extend or write) under a try that has not
// returned. If it succeeds, the try was granted, and its acquire counts as returned at the
// call of the first one that succeeded. Until that is known each of them has a window event
// of its own that waits.
type impliedGrant struct {
	kind      history.Kind // Extend or Write
	value     int64        // the value written
	at        history.Time
	succeeded bool // to something
	yielded   bool // its event was skipped: see [maxWaiting]
	begins    bool // the window begins with it
	void      bool // it does not
}

// open reports whether it is unknown yet if the window begins with the call.
func (a *impliedGrant) open() bool { return !a.begins && !a.void }

// actOf returns the newest call of a kind and a value that is not decided, or nil.
func (w *window) actOf(kind history.Kind, value int64) *impliedGrant {
	for _, a := range slices.Backward(w.implied) {
		if a.kind == kind && a.value == value {
			return a
		}
	}
	return nil
}

// awaits reports whether the window may still turn out to have begun with a call. Of a dead
// client only writes can still be recorded.
func (w *window) awaits(c *client) bool {
	for _, a := range w.implied {
		if !a.yielded || a.kind == history.Write || !c.dead {
			return true
		}
	}
	return false
}

// act notes a call that only a holder makes.
func (x *windows) act(h *hold, f *fact) {
	w := &h.windows[x.kind]
	if h.returned || h.refused() || w.begun && !w.tentative {
		return
	}
	if f.Kind == history.Extend { // returns belong to the later extension from now on
		x.drop(w, w.actOf(f.Kind, f.Value))
	}
	a := &impliedGrant{kind: f.Kind, value: f.Value, at: x.state.now}
	w.implied = append(w.implied, a)
	x.events = append(x.events, windowEvent{hold: h, implied: a})
	if !w.begun {
		w.begun, w.tentative, w.call = true, true, h.acquire.at
	}
	x.decide(h)
}

// succeed notes that a call of the hold has succeeded.
func (x *windows) succeed(h *hold, kind history.Kind, value int64) {
	w := &h.windows[x.kind]
	if h.returned || h.refused() {
		return
	}
	a := w.actOf(kind, value)
	if a != nil && a.yielded {
		x.confirmTooLate(h, a)
		a = w.candidate()
	}
	if a != nil {
		a.succeeded = true
	} else if !w.begun {
		x.begin(h, h.acquire.at)
	}
	x.decide(h)
}

// fail notes that a call of the hold has failed.
func (x *windows) fail(h *hold, kind history.Kind, value int64) {
	w := &h.windows[x.kind]
	x.drop(w, w.actOf(kind, value))
	x.decide(h)
}

func (x *windows) written(h *hold, f *fact) {
	switch f.Outcome {
	case history.OK:
		x.succeed(h, history.Write, f.Value)
	case history.Declined:
		x.fail(h, history.Write, f.Value)
	}
}

// drop removes a call, unless it has succeeded.
func (x *windows) drop(w *window, a *impliedGrant) {
	if a != nil && !a.succeeded {
		a.void = true
		w.implied = remove(w.implied, a)
	}
}

// candidate returns the first call that may begin the window, or nil. In one instant, a call
// that has succeeded goes first.
func (w *window) candidate() (first *impliedGrant) {
	for _, a := range w.implied {
		if !a.yielded && (first == nil || a.at == first.at && a.succeeded) {
			first = a
		}
	}
	return first
}

// decide determines with which call the window begins, if that is certain now, and passes on
// the events that waited for it.
func (x *windows) decide(h *hold) {
	w := &h.windows[x.kind]
	first := w.candidate()
	if w.tentative && first != nil {
		w.from = first.at
	}
	if first == nil || first.succeeded {
		w.begun = w.begun && !w.tentative || first != nil
		w.tentative = false
		w.beginWith(first)
	}
	x.drain(x.queue(h))
}

// beginWith notes that the window begins with this call and no other.
func (w *window) beginWith(first *impliedGrant) {
	for i := len(w.implied) - 1; i >= 0; i-- {
		switch a := w.implied[i]; {
		case a == first:
			a.begins = true
			w.implied = cut(w.implied, i)
		case !a.yielded:
			a.void = true
			w.implied = cut(w.implied, i)
		}
	}
}

// forget removes all calls of the hold, because its try has returned.
func (x *windows) forget(h *hold) {
	w := &h.windows[x.kind]
	for _, a := range w.implied {
		a.void = true
	}
	w.implied = nil
	x.decide(h)
}

// yield skips the event of a call, so that those behind it can be passed on.
func (x *windows) yield(h *hold, a *impliedGrant) {
	a.yielded, a.void = true, true
	x.decide(h)
	if h.over || h.client.dead {
		x.state.retiring = append(x.state.retiring, h)
	}
}

// confirmTooLate notes that a call succeeded whose event was skipped. An overlap may have
// been missed.
func (x *windows) confirmTooLate(h *hold, a *impliedGrant) {
	w := &h.windows[x.kind]
	w.implied = remove(w.implied, a)
	if x.observer != nil {
		x.observer.missed(missedWindow{resource: h.resource.name, token: h.token, client: h.client.number, call: a.kind, from: a.at, known: x.state.now})
	}
}

// giveUp removes the calls that never returned.
func (x *windows) giveUp() {
	for _, c := range x.state.clients {
		for _, h := range c.holds {
			w := &h.windows[x.kind]
			if len(w.implied) == 0 {
				continue
			}
			for i := len(w.implied) - 1; i >= 0; i-- {
				x.drop(w, w.implied[i])
			}
			x.decide(h)
		}
	}
}

// Window is the time in which a grant excludes others: half-open, from From to To.
type Window struct {
	Grant grant

	// Fence is the fencing token of the grant; 0: none.
	Fence uint64

	// Call is when acquire was called, or the late extension that began the window. For an
	// empty window it is the earliest instant at which the lock had to be free.
	Call history.Time

	From history.Time // when that call returned
	To   history.Time // for an empty window: From

	// Empty: the window ended before it began.
	Empty bool

	// Late: an extension began the window after the hold's last window had ended, at Over.
	// Nobody else may have held the lock in between.
	Late bool
	Over history.Time

	// By is the kind of event that ended it; 0: the history ended first.
	By history.Kind
}

// Ending names what ended the window.
func (w *Window) Ending() string {
	switch w.By {
	case history.Release:
		return "release"
	case history.Lost:
		return "told of the loss"
	case history.Lapse:
		return "validity ends"
	case history.Expiring:
		return "warned"
	case history.Kill:
		return "death"
	}
	return "the history ends"
}

// windowOf returns the window that has ended with the event.
func (x *windows) windowOf(e *windowEvent) Window {
	h := e.hold
	w := Window{Grant: grantOf(h, e.at), Fence: h.fence, From: e.at, To: e.at, By: e.by, Late: h.past.ever, Over: h.past.end}
	switch own := &h.windows[x.kind]; e.change {
	case windowEmpty:
		w.Empty, w.Call, w.Late, w.Over = true, e.since, false, 0
		return w
	case extendedLate:
		w.Empty, w.Call = true, own.call
		return w
	default:
		w.Grant, w.From, w.Call = grantOf(h, e.began), e.began, h.acquire.at
		if own.from == e.began {
			w.Call = own.call
		}
	}
	if !x.beginAnew() {
		w.Late, w.Over = false, 0
	}
	return w
}

// grant names one grant.
type grant struct {
	Client   int
	Resource string
	Token    string
	Call     history.Time  // of acquire
	Granted  history.Time  // its return
	Validity time.Duration // at the grant, by the client's clock
}

// grantOf names the grant of a window that began at an instant. If the try never returned, the first act that
// shows its grant counts as the grant.
func grantOf(h *hold, from history.Time) grant {
	g := grant{
		Client: h.client.number, Resource: h.resource.name, Token: h.token,
		Call: h.acquire.at, Granted: h.granted, Validity: h.first.left,
	}
	if !h.returned {
		g.Granted = from
	}
	return g
}

// Windows calls each for every window of a kind when it ends, and in Close for those that are open. Call
// it before the first event.
func (l *state) Windows(of windowKind, each func(Window)) {
	l.windows[of].each = each
	l.windows[of].follow()
}
