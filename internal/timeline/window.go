package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// WindowKind says how the time is counted in which a hold excludes others. Every window begins when acquire
// returns.
type WindowKind int

const (
	// leaseWindow ends with the release, a loss, or the end of validity.
	LeaseWindow WindowKind = iota
	// sectionWindow is the time in which the holder works: until its release, or until it learns that the
	// lock is lost, or is about to be.
	SectionWindow
	WindowKinds
)

// windowEnds are the kinds of events that end a window, by its kind.
var windowEnds = [WindowKinds]Kinds{
	LeaseWindow:   KindSet(history.Release, history.Lost, history.Lapse),
	SectionWindow: KindSet(history.Release, history.Lost, history.Expiring, history.Kill, history.End),
}

// HoldWindow is the time in which a hold excludes others, as far as it is known: half-open.
type HoldWindow struct {
	Begun     bool
	Over      bool
	tentative bool // begun by a call of a holder whose acquire has not returned; the call may fail
	anew      bool // begun by an extension, after the hold had lapsed

	// fresh, closing: it began, or ended, in this instant.
	fresh   bool
	closing bool
	By      history.Kind // what ended it

	barred history.Time // when its holder ended it after its validity; no later extension continues it

	implied []*impliedGrant // calls with which it may have begun, in their order

	call history.Time // of acquire, or of the extension that began it anew
	From history.Time
	End  history.Time
}

// Empty reports whether the window ended before it began, or when it did.
func (w *HoldWindow) Empty() bool { return w.Begun && w.Over && w.End <= w.From }

// PastWindow is the last ended lease window of a hold.
type PastWindow struct {
	Ever bool
	From history.Time
	End  history.Time // of an empty window: from
}

// WindowChange is what happens to the window of a hold.
type WindowChange uint8

// The changes, in the order in which they take place in an instant.
const (
	unchanged    WindowChange = iota
	WindowEnded               // Span is the window
	WindowBegan               // others that are live go on
	WindowEmpty               // it ended before it began
	ExtendedLate              // a late extension was granted, and its hold ended in the same instant
)

// WindowEvent is the begin or the end of a window.
type WindowEvent struct {
	Change WindowChange
	Hold   *Hold
	At     history.Time
	Since  history.Time // of an empty window: from then on the lock had to be free at some instant
	By     history.Kind // what ended the window
	Began  history.Time // when the window began that has ended
	None   bool         // no window has ended: the call that would have begun it failed

	implied *impliedGrant // the call with which the window may have begun; nil: it is certain
}

// open reports whether it is unknown yet if the event takes place.
func (e *WindowEvent) open() bool { return e.implied != nil && e.implied.open() }

// compare orders the events of one instant, so that the order in which they were recorded
// makes no difference.
func (e WindowEvent) compare(other WindowEvent) int {
	if e.Change != other.Change {
		return cmp.Compare(e.Change, other.Change)
	}
	return cmp.Or(
		cmp.Compare(e.Hold.Client.Number, other.Hold.Client.Number),
		strings.Compare(e.Hold.Token, other.Hold.Token),
		cmp.Compare(e.Since, other.Since),
	)
}

// WindowObserver receives the begins and ends of windows of one kind. Those of a resource come in the order of
// time, and those of one instant in the order of [WindowChange]. An event can come late: when it is certain
// that those before it took place.
type WindowObserver interface {
	Window(e *WindowEvent)
	Missed(w MissedWindow)
}

// LiveWindow is a live window.
type LiveWindow struct {
	Hold *Hold
	From history.Time
}

// windows follows the windows of one kind.
type windows struct {
	kind     WindowKind
	ends     Kinds
	timeline *Timeline
	events   []WindowEvent // of this instant; without a change until they are gathered

	observer WindowObserver // nil: nobody wants to be told
	each     func(Window)   // nil: the same
}

// MissedWindow is a window that was taken for one which never began, because too much had to wait until it was
// certain. It did begin.
type MissedWindow struct {
	Resource, Token string
	Client          int
	Call            history.Kind // that shows it
	From, Known     history.Time
}

// follow makes somebody ask for these windows.
func (ws *windows) follow() {
	wants := KindSet(history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Write, history.WriteDone, history.Apply, Reentered) | ws.ends
	if ws.timeline.Header.Keepers < 0 {
		wants |= KindSet(history.Kill)
	}
	if ws.ends.Has(history.Kill) {
		wants |= KindSet(history.Acquire) // it may come in the instant in which its client dies
	}
	for k := range ws.timeline.routes {
		if wants.Has(history.Kind(k)) {
			ws.timeline.routes[k].windows |= 1 << ws.kind
		}
	}
}

// beginAnew reports whether an extension can begin a window anew: see [windows.renew].
func (ws *windows) beginAnew() bool { return ws.ends.Has(history.Lapse) }

func (ws *windows) observe(f *Fact) {
	h := f.Hold
	if h == nil {
		ws.endAllBy(f)
		return
	}
	switch f.Kind {
	case history.Granted:
		ws.granted(h)
	case history.Refused:
		if len(h.Windows[ws.kind].implied) > 0 {
			ws.forget(h)
		}
	case history.Extend, history.Write:
		ws.act(h, f)
	case history.ExtendFailed:
		ws.fail(h, history.Extend, 0)
	case history.Extended:
		ws.succeed(h, history.Extend, 0)
		ws.renew(h, f)
	case Reentered:
		ws.renew(h, f)
	case history.Apply:
		ws.succeed(h, history.Write, f.Value)
	case history.WriteDone:
		ws.written(h, f)
	case history.Release, history.Lost, history.Expiring:
		ws.end(h, f.Time, f.Kind)
	}
	if h.Expired() && ws.ends.Has(history.Lapse) {
		ws.endBegun(h)
	}
	if h.Client.Dead && (ws.ends.Has(history.Kill) || ws.timeline.DiesWithClient(h)) {
		ws.end(h, ws.timeline.Now, history.Kill) // it was called and died in one instant
	}
}

// endAllBy ends the windows of all holds that a death, or the end of the history, ends.
func (ws *windows) endAllBy(f *Fact) {
	switch f.Kind {
	case history.Kill:
		ws.endAll(f.Actor, f.Kind)
	case history.End:
		for _, c := range ws.timeline.Clients {
			ws.endAll(c, f.Kind)
		}
	}
}

func (ws *windows) endAll(c *Client, by history.Kind) {
	for _, h := range c.Holds {
		if ws.ends.Has(by) || ws.timeline.DiesWithClient(h) {
			ws.end(h, ws.timeline.Now, by)
		}
	}
}

// endBegun ends a window whose validity is over. Before acquire returns the end is unknown,
// so that a window that has not begun does not end.
func (ws *windows) endBegun(h *Hold) {
	w := &h.Windows[ws.kind]
	switch {
	case !w.Begun:
	case w.From == ws.timeline.Now:
		ws.end(h, h.Expiry(), history.Lapse)
	default:
		ws.end(h, ws.timeline.Now, history.Lapse)
	}
}

func (ws *windows) end(h *Hold, at history.Time, by history.Kind) {
	w := &h.Windows[ws.kind]
	if w.Over {
		if w.By == history.Lapse && by != history.Lapse {
			w.By, w.barred = by, ws.timeline.Now // no later extension continues it
		}
		w.End = min(w.End, at)
		return
	}
	w.Over, w.closing, w.End, w.By = true, true, at, by
	ws.touch(WindowEvent{Hold: h})
}

func (ws *windows) touch(e WindowEvent) {
	ws.events = append(ws.events, e)
	ws.timeline.settling |= 1 << ws.kind
}

// begin begins the hold's window now.
func (ws *windows) begin(h *Hold, call history.Time) {
	w := &h.Windows[ws.kind]
	w.Begun, w.fresh = true, true
	w.call, w.From = call, ws.timeline.Now
	ws.touch(WindowEvent{Hold: h})
}

// granted begins the window of a try that returns, unless a call has begun it before.
func (ws *windows) granted(h *Hold) {
	w := &h.Windows[ws.kind]
	if len(w.implied) > 0 {
		ws.forget(h)
	}
	if !w.Begun {
		ws.begin(h, h.Acquire.At)
	}
}

// renew continues the hold to its new end. If the extension is granted after the old end, a
// new window of the same hold begins: in between nobody could rely on the hold. An extension whose own
// validity is over when it returns counts as failed.
//
// This applies to lease windows. A section window ends by a release, a loss, a warning or a death,
// which no extension takes back. It does not end with the validity, so that a grant to
// another client after the lapse overlaps it.
func (ws *windows) renew(h *Hold, f *Fact) {
	w := &h.Windows[ws.kind]
	switch {
	case w.Over && w.barred == ws.timeline.Now && w.End < ws.timeline.Now: // events of one instant have no order
		by := w.By
		ws.renewed(h, f)
		ws.end(h, ws.timeline.Now, by)
	case !w.Over || w.By != history.Lapse:
	case w.End == ws.timeline.Now:
		w.Over, w.closing = false, false
	default:
		ws.renewed(h, f)
	}
}

// renewed begins a new window of a hold by an extension.
func (ws *windows) renewed(h *Hold, f *Fact) {
	for i := range ws.events {
		if e := &ws.events[i]; e.Hold == h {
			ws.gather(e)
		}
	}
	w := &h.Windows[ws.kind]
	*w = HoldWindow{anew: true, implied: w.implied}
	ws.begin(h, f.Call.At)
}

// settle passes on the events of an instant that is over.
func (ws *windows) settle() {
	events := ws.events
	for i := range events {
		ws.gather(&events[i])
	}
	if len(events) > 1 {
		slices.SortFunc(events, WindowEvent.compare)
	}
	for i := range events {
		ws.take(&events[i])
	}
	ws.events = events[:0]
}

// gather sets the event to what happened to its hold's window in this instant, once.
func (ws *windows) gather(e *WindowEvent) {
	w := &e.Hold.Windows[ws.kind]
	switch {
	case e.Change != unchanged:
		return
	case e.implied != nil:
		e.Change = w.beginning(e.implied)
	case w.fresh || w.closing:
		e.Change = w.change(e.Hold)
		w.fresh, w.closing = false, false
	}
	e.At, e.Since, e.By = ws.timeline.Now, max(w.call, w.End), w.By
}

// change returns what happened to the window of a hold in the instant. An extension whose
// own validity was over when it returned changes nothing. An extension that was granted and
// ended by its holder in one instant still claims that the hold had gone on until then.
func (w *HoldWindow) change(h *Hold) WindowChange {
	switch {
	case w.fresh && w.Over && w.anew && h.Expired() && h.Expiry() <= w.From:
		return unchanged
	case w.fresh && w.Over && w.anew:
		return ExtendedLate
	case w.fresh && w.Over:
		return WindowEmpty
	case w.fresh:
		return WindowBegan
	case w.closing && w.Begun:
		return WindowEnded
	}
	return unchanged
}

// beginning returns what happened in the instant of a call, if the window begins with that
// call.
func (w *HoldWindow) beginning(a *impliedGrant) WindowChange {
	switch {
	case a.void:
		return unchanged
	case w.Over:
		return WindowEmpty
	}
	return WindowBegan
}

// take passes the event on, now or when those before it are certain.
func (ws *windows) take(e *WindowEvent) {
	if e.Change == unchanged {
		return
	}
	q := ws.queue(e.Hold)
	if q.take(e) {
		ws.pass(q, e)
	} else if open := q.crowded(); open != nil {
		ws.yield(open.Hold, open.implied)
	}
}

// drain passes on the events that waited for a call that has now succeeded or failed.
func (ws *windows) drain(q *windowQueue) {
	for {
		e := q.next()
		if e == nil {
			return
		}
		ws.pass(q, e)
		ws.timeline.reuse(e.Hold)
	}
}

// pass passes on an event that is certain. Its observer finds the windows that were live before.
func (ws *windows) pass(q *windowQueue, e *WindowEvent) {
	past := &e.Hold.PastWindow
	switch e.Change {
	case WindowEnded:
		e.Began, e.None = q.end(e.Hold)
		ws.observed(e)
		if !e.None && ws.beginAnew() {
			*past = PastWindow{Ever: true, From: e.Began, End: e.At}
		}
	case WindowBegan:
		ws.observed(e)
		q.begin(e)
	case WindowEmpty:
		if ws.beginAnew() {
			*past = PastWindow{Ever: true, From: e.At, End: e.At}
		}
		ws.observed(e)
	case ExtendedLate:
		if past.End != e.At { // else it was granted and ended in this instant
			ws.observed(e)
		}
	}
}

func (ws *windows) observed(e *WindowEvent) {
	if ws.each != nil && e.Change != WindowBegan && !e.None {
		ws.each(ws.windowOf(e))
	}
	if ws.observer != nil && e.Change != unchanged {
		ws.observer.Window(e)
	}
}

// finish passes on what can be said when the history ends.
func (ws *windows) finish(end history.Time) {
	ws.giveUp()
	if ws.each == nil {
		return
	}
	for _, r := range ws.timeline.ResourcesInOrder() {
		for _, s := range r.Windows[ws.kind].Live {
			ws.each(ws.windowOf(&WindowEvent{Change: WindowEnded, Hold: s.Hold, At: end, Began: s.From}))
		}
	}
}

// windowQueue is the live windows of a resource, and the events that have to wait.
type windowQueue struct {
	Live []LiveWindow

	// waiting holds back events, from first on, behind one that is open: the start of a
	// window that is not certain yet.
	waiting []WindowEvent
	first   int
}

// MaxWaiting bounds the events that are held back. Beyond it the open one is skipped. If its
// call succeeds after all, an overlap may have been missed: see [MissedWindow]. Each
// waiting event keeps a hold in memory; a bound of 4096 costs four times as much.
const MaxWaiting = 256

func (ws *windows) queue(h *Hold) *windowQueue { return &h.Resource.Windows[ws.kind] }

// take reports whether the event is certain. If not, it adds it to waiting.
func (q *windowQueue) take(e *WindowEvent) bool {
	if len(q.waiting) == 0 && !e.open() {
		return true
	}
	if len(q.waiting) == cap(q.waiting) && 2*q.first >= len(q.waiting) {
		q.waiting, q.first = append(q.waiting[:0], q.waiting[q.first:]...), 0
	}
	q.waiting = append(q.waiting, *e)
	e.Hold.references++
	return false
}

// next removes the first waiting event and returns it, unless it is open. It is valid until
// the next call of take.
func (q *windowQueue) next() *WindowEvent {
	if q.first == len(q.waiting) {
		q.waiting, q.first = q.waiting[:0], 0
		return nil
	}
	e := &q.waiting[q.first]
	if e.open() {
		return nil
	}
	if e.implied != nil && e.implied.void {
		e.Change = unchanged
	}
	q.first++
	e.Hold.references--
	return e
}

// crowded returns the open event that has to be skipped, or nil.
func (q *windowQueue) crowded() *WindowEvent {
	if len(q.waiting)-q.first <= MaxWaiting {
		return nil
	}
	return &q.waiting[q.first]
}

func (q *windowQueue) begin(e *WindowEvent) {
	q.Live = append(q.Live, LiveWindow{Hold: e.Hold, From: e.At})
	e.Hold.references++
}

// end ends the live window of a hold, and returns when it began. There is none if the call
// that would have begun it failed.
func (q *windowQueue) end(h *Hold) (began history.Time, none bool) {
	for i, s := range q.Live {
		if s.Hold == h {
			q.Live = Cut(q.Live, i)
			h.references--
			return s.From, false
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
	yielded   bool // its event was skipped: see [MaxWaiting]
	begins    bool // the window begins with it
	void      bool // it does not
}

// open reports whether it is unknown yet if the window begins with the call.
func (a *impliedGrant) open() bool { return !a.begins && !a.void }

// actOf returns the newest call of a kind and a value that is not decided, or nil.
func (w *HoldWindow) actOf(kind history.Kind, value int64) *impliedGrant {
	for _, a := range slices.Backward(w.implied) {
		if a.kind == kind && a.value == value {
			return a
		}
	}
	return nil
}

// awaits reports whether the window may still turn out to have begun with a call. Of a dead
// client only writes can still be recorded.
func (w *HoldWindow) awaits(c *Client) bool {
	for _, a := range w.implied {
		if !a.yielded || a.kind == history.Write || !c.Dead {
			return true
		}
	}
	return false
}

// act notes a call that only a holder makes.
func (ws *windows) act(h *Hold, f *Fact) {
	w := &h.Windows[ws.kind]
	if h.Granted || h.refused() || w.Begun && !w.tentative {
		return
	}
	if f.Kind == history.Extend { // returns belong to the later extension from now on
		ws.drop(w, w.actOf(f.Kind, f.Value))
	}
	a := &impliedGrant{kind: f.Kind, value: f.Value, at: ws.timeline.Now}
	w.implied = append(w.implied, a)
	ws.touch(WindowEvent{Hold: h, implied: a})
	if !w.Begun {
		w.Begun, w.tentative, w.call = true, true, h.Acquire.At
	}
	ws.decide(h)
}

// succeed notes that a call of the hold has succeeded.
func (ws *windows) succeed(h *Hold, kind history.Kind, value int64) {
	w := &h.Windows[ws.kind]
	if h.Granted || h.refused() {
		return
	}
	a := w.actOf(kind, value)
	if a != nil && a.yielded {
		ws.confirmTooLate(h, a)
		a = w.candidate()
	}
	if a != nil {
		a.succeeded = true
	} else if !w.Begun {
		ws.begin(h, h.Acquire.At)
	}
	ws.decide(h)
}

// fail notes that a call of the hold has failed.
func (ws *windows) fail(h *Hold, kind history.Kind, value int64) {
	w := &h.Windows[ws.kind]
	ws.drop(w, w.actOf(kind, value))
	ws.decide(h)
}

func (ws *windows) written(h *Hold, f *Fact) {
	switch f.Outcome {
	case history.OK:
		ws.succeed(h, history.Write, f.Value)
	case history.Declined:
		ws.fail(h, history.Write, f.Value)
	}
}

// drop removes a call, unless it has succeeded.
func (ws *windows) drop(w *HoldWindow, a *impliedGrant) {
	if a != nil && !a.succeeded {
		a.void = true
		w.implied = Remove(w.implied, a)
	}
}

// candidate returns the first call that may begin the window, or nil. In one instant, a call
// that has succeeded goes first.
func (w *HoldWindow) candidate() (first *impliedGrant) {
	for _, a := range w.implied {
		if !a.yielded && (first == nil || a.at == first.at && a.succeeded) {
			first = a
		}
	}
	return first
}

// decide determines with which call the window begins, if that is certain now, and passes on
// the events that waited for it.
func (ws *windows) decide(h *Hold) {
	w := &h.Windows[ws.kind]
	first := w.candidate()
	if w.tentative && first != nil {
		w.From = first.at
	}
	if first == nil || first.succeeded {
		w.Begun = w.Begun && !w.tentative || first != nil
		w.tentative = false
		w.beginWith(first)
	}
	ws.drain(ws.queue(h))
}

// beginWith notes that the window begins with this call and no other.
func (w *HoldWindow) beginWith(first *impliedGrant) {
	for i := len(w.implied) - 1; i >= 0; i-- {
		switch a := w.implied[i]; {
		case a == first:
			a.begins = true
			w.implied = Cut(w.implied, i)
		case !a.yielded:
			a.void = true
			w.implied = Cut(w.implied, i)
		}
	}
}

// forget removes all calls of the hold, because its try has returned.
func (ws *windows) forget(h *Hold) {
	w := &h.Windows[ws.kind]
	for _, a := range w.implied {
		a.void = true
	}
	w.implied = nil
	ws.decide(h)
}

// yield skips the event of a call, so that those behind it can be passed on.
func (ws *windows) yield(h *Hold, a *impliedGrant) {
	a.yielded, a.void = true, true
	ws.decide(h)
	if h.Over || h.Client.Dead {
		ws.timeline.retiring = append(ws.timeline.retiring, h)
	}
}

// confirmTooLate notes that a call succeeded whose event was skipped. An overlap may have
// been missed.
func (ws *windows) confirmTooLate(h *Hold, a *impliedGrant) {
	w := &h.Windows[ws.kind]
	w.implied = Remove(w.implied, a)
	if ws.observer != nil {
		ws.observer.Missed(MissedWindow{Resource: h.Resource.Name, Token: h.Token, Client: h.Client.Number, Call: a.kind, From: a.at, Known: ws.timeline.Now})
	}
}

// giveUp removes the calls that never returned.
func (ws *windows) giveUp() {
	for _, c := range ws.timeline.Clients {
		for _, h := range c.Holds {
			w := &h.Windows[ws.kind]
			if len(w.implied) == 0 {
				continue
			}
			for i := len(w.implied) - 1; i >= 0; i-- {
				ws.drop(w, w.implied[i])
			}
			ws.decide(h)
		}
	}
}

// Window is the time in which a grant excludes others: half-open, from From to To.
type Window struct {
	Grant Grant

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
func (ws *windows) windowOf(e *WindowEvent) Window {
	h := e.Hold
	w := Window{Grant: GrantOf(h, e.At), Fence: h.Fence, From: e.At, To: e.At, By: e.By, Late: h.PastWindow.Ever, Over: h.PastWindow.End}
	switch own := &h.Windows[ws.kind]; e.Change {
	case WindowEmpty:
		w.Empty, w.Call, w.Late, w.Over = true, e.Since, false, 0
		return w
	case ExtendedLate:
		w.Empty, w.Call = true, own.call
		return w
	default:
		w.Grant, w.From, w.Call = GrantOf(h, e.Began), e.Began, h.Acquire.At
		if own.From == e.Began {
			w.Call = own.call
		}
	}
	if !ws.beginAnew() {
		w.Late, w.Over = false, 0
	}
	return w
}

// Grant names one grant.
type Grant struct {
	Client   int
	Resource string
	Token    string
	Call     history.Time  // of acquire
	Granted  history.Time  // its return
	Validity time.Duration // at the grant, by the client's clock
}

// GrantOf names the grant of a window that began at an instant. If the try never returned, the first act that
// shows its grant counts as the grant.
func GrantOf(h *Hold, from history.Time) Grant {
	g := Grant{
		Client: h.Client.Number, Resource: h.Resource.Name, Token: h.Token,
		Call: h.Acquire.At, Granted: h.GrantedAt, Validity: h.AtGrant.Left,
	}
	if !h.Granted {
		g.Granted = from
	}
	return g
}

// Windows calls each for every window of a kind when it ends, and in Close for those that are open. Call
// it before the first event.
func (t *Timeline) Windows(of WindowKind, each func(Window)) {
	t.windows[of].each = each
	t.windows[of].follow()
}
