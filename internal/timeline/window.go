package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// WindowKind is a way to count the time in which a hold excludes others, its window. Every window begins when
// acquire returns. If the history shows that a try was granted, because its client extends the lock or writes
// under it, the window begins at that call: see [impliedGrant].
type WindowKind int

const (
	// LeaseWindow ends with the release, a loss, or the end of validity.
	LeaseWindow WindowKind = iota
	// SectionWindow is the time in which the holder works: until its release, or until it learns that the
	// lock is lost, or is about to be.
	SectionWindow
	// WindowKinds is the number of kinds.
	WindowKinds
)

// windowEnds are the kinds of events that end a window of each kind.
var windowEnds = [WindowKinds]Kinds{
	LeaseWindow:   KindSet(history.Release, history.Lost, history.Lapse),
	SectionWindow: KindSet(history.Release, history.Lost, history.Expiring, history.Kill, history.End),
}

// HoldWindow is what is known so far of a hold's window. It is half-open.
type HoldWindow struct {
	Begun     bool
	Over      bool
	tentative bool // begun by a call of a holder whose acquire has not returned; the call may fail
	reopened  bool // begun by an extension, after the hold had lapsed

	beganNow bool         // the window began in this instant
	endedNow bool         // the window ended in this instant
	By       history.Kind // what ended the window

	endedAfterLapse history.Time // when the holder ended the hold after its window; no later extension reopens it

	implied []*impliedGrant // calls with which it may have begun, in their order

	call history.Time // of acquire, or of the extension that reopened it
	From history.Time
	End  history.Time
}

// BeginsAt reports whether the window begins at an instant.
func (w *HoldWindow) BeginsAt(at history.Time) bool { return w.Begun && w.From == at }

// Empty reports whether the window ended before it began, or when it did.
func (w *HoldWindow) Empty() bool { return w.Begun && w.Over && w.End <= w.From }

// PastWindow is the last ended lease window of a hold, or of another hold of its client under its token.
type PastWindow struct {
	Ever    bool
	Granted history.Time // when its hold was granted
	From    history.Time
	End     history.Time // if the window was empty: From
	By      history.Kind // what ended it
}

// WindowChange is what happens to the window of a hold in an instant.
type WindowChange uint8

// The changes of one instant are passed on in this order.
const (
	unchanged WindowChange = iota
	WindowEnded
	WindowBegan
	WindowEmpty  // it ended before it began
	ExtendedLate // a late extension was granted, and its hold ended in the same instant
)

// WindowEvent is a change of a hold's window.
type WindowEvent struct {
	Change WindowChange
	Hold   *Hold
	At     history.Time
	Since  history.Time // for an empty window: the lock had to be free at some instant from Since to At
	By     history.Kind // what ended the window
	Began  history.Time // when the ended window began
	None   bool         // of WindowEnded: there was no window, because the call that would have begun it failed

	implied *impliedGrant // the call with which the window may have begun; nil: it is certain
}

// open reports whether it is still unknown if the change took place.
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

// WindowObserver receives the changes of windows of one kind. The changes of a resource come in the order of
// time, and those of one instant in the order of [WindowChange]. A change is delayed until it is certain, and so
// are the changes behind it.
type WindowObserver interface {
	Window(e *WindowEvent)
	Missed(w MissedWindow)
}

// LiveWindow is a window that has begun and not ended.
type LiveWindow struct {
	Hold *Hold
	From history.Time
}

// windows follows the windows of one kind.
type windows struct {
	kind     WindowKind
	ends     Kinds
	timeline *Timeline
	events   []WindowEvent // of this instant; gather sets their changes

	observer WindowObserver // nil: there is none
	each     func(Window)   // receives each ended window: see [Timeline.Windows]; nil: there is none
}

// MissedWindow is a window that was skipped, because more than [MaxWaiting] events waited for it to be certain,
// and that turned out later to have begun.
type MissedWindow struct {
	Resource, Token string
	Client          int
	Call            history.Kind // the call that shows it
	From, Known     history.Time
}

// follow routes the events that these windows need to them.
func (ws *windows) follow() {
	wants := KindSet(history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Write, history.WriteDone, history.Apply, Reentered) | ws.ends
	if ws.timeline.Header.Keepers < 0 {
		wants |= KindSet(history.Kill)
	}
	if ws.ends.Has(history.Kill) {
		wants |= KindSet(history.Acquire) // acquire may be recorded in the instant in which its client dies
	}
	for k := range ws.timeline.routes {
		if wants.Has(history.Kind(k)) {
			ws.timeline.routes[k].windows |= 1 << ws.kind
		}
	}
}

// canReopen reports whether an extension can reopen a window: see [windows.renew].
func (ws *windows) canReopen() bool { return ws.ends.Has(history.Lapse) }

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
			ws.dropImplied(h)
		}
	case history.Extend, history.Write:
		ws.imply(h, f)
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
		ws.writeReturned(h, f)
	case history.Release, history.Lost, history.Expiring:
		ws.end(h, f.Time, f.Kind)
	}
	if h.Expired() && ws.ends.Has(history.Lapse) {
		ws.endBegun(h)
	}
	if h.Client.Dead && (ws.ends.Has(history.Kill) || ws.timeline.DiesWithClient(h)) {
		ws.end(h, ws.timeline.Now, history.Kill) // the client called acquire and died in one instant
	}
}

// endAllBy ends the windows that a client's death or the end of the history ends.
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

// endBegun ends the window of a hold whose validity is over, unless it has not begun: before acquire returns,
// the end of the validity is unknown.
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
			w.By, w.endedAfterLapse = by, ws.timeline.Now // no later extension reopens it
		}
		w.End = min(w.End, at)
		return
	}
	w.Over, w.endedNow, w.End, w.By = true, true, at, by
	ws.touch(WindowEvent{Hold: h})
}

func (ws *windows) touch(e WindowEvent) {
	ws.events = append(ws.events, e)
	ws.timeline.settling |= 1 << ws.kind
}

// begin begins the hold's window now.
func (ws *windows) begin(h *Hold, call history.Time) {
	w := &h.Windows[ws.kind]
	w.Begun, w.beganNow = true, true
	w.call, w.From = call, ws.timeline.Now
	ws.touch(WindowEvent{Hold: h})
}

// granted begins the window of a try that returns, unless an implied grant has begun it before.
func (ws *windows) granted(h *Hold) {
	w := &h.Windows[ws.kind]
	if len(w.implied) > 0 {
		ws.dropImplied(h)
	}
	if !w.Begun {
		ws.begin(h, h.Acquire.At)
	}
}

// renew continues the window of a hold that is extended. If it has lapsed before, a new window of the hold
// begins, because in between nobody could rely on the hold. An extension whose own validity is over when it
// returns counts as failed.
//
// This applies to lease windows. A section window ends by a release, a loss, a warning or a death, which no
// extension takes back. It does not end with the validity, so a grant to another client after the lapse overlaps
// it.
func (ws *windows) renew(h *Hold, f *Fact) {
	w := &h.Windows[ws.kind]
	switch {
	case w.Over && w.endedAfterLapse == ws.timeline.Now && w.End < ws.timeline.Now: // events of one instant have no order
		by := w.By
		ws.reopen(h, f)
		ws.end(h, ws.timeline.Now, by)
	case !w.Over || w.By != history.Lapse:
	case w.End == ws.timeline.Now:
		w.Over, w.endedNow = false, false
	default:
		ws.reopen(h, f)
	}
}

// reopen begins a new window of a hold, by an extension.
func (ws *windows) reopen(h *Hold, f *Fact) {
	for i := range ws.events {
		if e := &ws.events[i]; e.Hold == h {
			ws.gather(e)
		}
	}
	w := &h.Windows[ws.kind]
	*w = HoldWindow{reopened: true, implied: w.implied}
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
		ws.forward(&events[i])
	}
	ws.events = events[:0]
}

// gather sets the event to the change of its hold's window in this instant. It does so once.
func (ws *windows) gather(e *WindowEvent) {
	w := &e.Hold.Windows[ws.kind]
	switch {
	case e.Change != unchanged:
		return
	case e.implied != nil:
		e.Change = w.beginning(e.implied)
	case w.beganNow || w.endedNow:
		e.Change = w.change(e.Hold)
		w.beganNow, w.endedNow = false, false
	}
	e.At, e.Since, e.By = ws.timeline.Now, max(w.call, w.End), w.By
}

// change returns what happened to the window of a hold in this instant. An extension whose
// own validity was over when it returned changes nothing. If an extension was granted and the
// holder ended the hold in the same instant, the extension still claims that nobody else held
// the lock until then.
func (w *HoldWindow) change(h *Hold) WindowChange {
	switch {
	case w.beganNow && w.Over && w.reopened && h.Expired() && h.Expiry() <= w.From:
		return unchanged
	case w.beganNow && w.Over && w.reopened:
		return ExtendedLate
	case w.beganNow && w.Over:
		return WindowEmpty
	case w.beganNow:
		return WindowBegan
	case w.endedNow && w.Begun:
		return WindowEnded
	}
	return unchanged
}

// beginning returns what happened to the window in the instant of a call that may have begun it.
func (w *HoldWindow) beginning(a *impliedGrant) WindowChange {
	switch {
	case a.void:
		return unchanged
	case w.Over:
		return WindowEmpty
	}
	return WindowBegan
}

// forward passes the event on, or queues it until it and the events before it are certain.
func (ws *windows) forward(e *WindowEvent) {
	if e.Change == unchanged {
		return
	}
	q := ws.queue(e.Hold)
	if q.certainOrQueued(e) {
		ws.pass(q, e)
	} else if open := q.overflow(); open != nil {
		ws.skip(open.Hold, open.implied)
	}
}

// drain passes on the waiting events up to the first that is still open.
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

// pass updates the live windows by an event that is certain, and passes it on. A window that begins becomes
// live only after its observer has received the event.
func (ws *windows) pass(q *windowQueue, e *WindowEvent) {
	switch e.Change {
	case WindowEnded:
		e.Began, e.None = q.end(e.Hold)
		ws.notify(e)
		if !e.None {
			ws.note(q, e, e.Began)
		}
	case WindowBegan:
		ws.notify(e)
		q.begin(e)
	case WindowEmpty:
		ws.note(q, e, e.At)
		ws.notify(e)
	case ExtendedLate:
		if e.Hold.PastWindow.End != e.At { // else the hold was granted and ended in this instant
			ws.notify(e)
		}
	}
}

// note notes the last window of a hold, and of its client's earlier holds under its token that are over: one
// that is extended late has been held by its owner since.
func (ws *windows) note(q *windowQueue, e *WindowEvent, from history.Time) {
	h := e.Hold
	if !ws.canReopen() {
		return
	}
	w := PastWindow{Ever: true, Granted: h.GrantedAt, From: from, End: e.At, By: e.By}
	h.PastWindow = w
	for _, o := range h.Client.Holds {
		if o.PastWindow.Ever && o.Token == h.Token && o.Resource == h.Resource && !slices.ContainsFunc(q.Live, func(l LiveWindow) bool { return l.Hold == o }) {
			o.PastWindow = w
		}
	}
}

func (ws *windows) notify(e *WindowEvent) {
	if ws.each != nil && e.Change != WindowBegan && !e.None {
		ws.each(ws.windowOf(e))
	}
	if ws.observer != nil && e.Change != unchanged {
		ws.observer.Window(e)
	}
}

// finish drops the calls that never returned, and passes the windows that are live at the end to each.
func (ws *windows) finish(end history.Time) {
	ws.dropUnreturned()
	if ws.each == nil {
		return
	}
	for _, r := range ws.timeline.ResourcesInOrder() {
		for _, s := range r.Windows[ws.kind].Live {
			ws.each(ws.windowOf(&WindowEvent{Change: WindowEnded, Hold: s.Hold, At: end, Began: s.From}))
		}
	}
}

// windowQueue has the live windows of a resource, and the events that wait to be certain.
type windowQueue struct {
	Live []LiveWindow

	// waiting are events, from first on. The first of them is open: it is not certain yet that its
	// window began. The others wait for it, to be passed on in order.
	waiting []WindowEvent
	first   int
}

// MaxWaiting bounds the waiting events of a resource. Beyond it the first, which is open, is
// skipped. If its call succeeds after all, an overlap may have been missed: see [MissedWindow].
// Each waiting event keeps a hold in memory; a bound of 4096 costs four times as much.
const MaxWaiting = 256

func (ws *windows) queue(h *Hold) *windowQueue { return &h.Resource.Windows[ws.kind] }

// certainOrQueued reports whether the event can be passed on. If not, it appends the event to waiting.
func (q *windowQueue) certainOrQueued(e *WindowEvent) bool {
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

// next removes the first waiting event and returns it; nil: there is none, or it is open. The
// event is valid until the next call of certainOrQueued.
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

// overflow returns the open event that has to be skipped; nil: none has to be.
func (q *windowQueue) overflow() *WindowEvent {
	if len(q.waiting)-q.first <= MaxWaiting {
		return nil
	}
	return &q.waiting[q.first]
}

func (q *windowQueue) begin(e *WindowEvent) {
	q.Live = append(q.Live, LiveWindow{Hold: e.Hold, From: e.At})
	e.Hold.references++
}

// end removes the live window of a hold, and returns when it began. none: there was no window,
// because the call that would have begun it failed.
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

// impliedGrant is a call that only a holder makes (extend or write), under a try that has not
// returned. If the call succeeds, the try was granted: acquire counts as returned at the first
// call that succeeds. Until it is known which one that is, each of the calls has a window event
// that waits.
type impliedGrant struct {
	kind      history.Kind // Extend or Write
	value     int64        // the value written
	at        history.Time
	succeeded bool
	skipped   bool // its event was skipped: see [MaxWaiting]
	begins    bool // the window begins with it
	void      bool // the window does not begin with it
}

// open reports whether it is still unknown if the window begins with the call.
func (a *impliedGrant) open() bool { return !a.begins && !a.void }

// impliedBy returns the newest call of a kind and a value that may have begun the window; nil: there is none.
func (w *HoldWindow) impliedBy(kind history.Kind, value int64) *impliedGrant {
	for _, a := range slices.Backward(w.implied) {
		if a.kind == kind && a.value == value {
			return a
		}
	}
	return nil
}

// awaits reports whether the history may still show that a call began the window. If the client
// is dead, only its writes can still be recorded.
func (w *HoldWindow) awaits(c *Client) bool {
	for _, a := range w.implied {
		if !a.skipped || a.kind == history.Write || !c.Dead {
			return true
		}
	}
	return false
}

// imply records a call that only a holder makes.
func (ws *windows) imply(h *Hold, f *Fact) {
	w := &h.Windows[ws.kind]
	if h.Granted || h.refused() || w.Begun && !w.tentative {
		return
	}
	if f.Kind == history.Extend { // from now on, returns belong to this extension
		ws.drop(w, w.impliedBy(f.Kind, f.Value))
	}
	a := &impliedGrant{kind: f.Kind, value: f.Value, at: ws.timeline.Now}
	w.implied = append(w.implied, a)
	ws.touch(WindowEvent{Hold: h, implied: a})
	if !w.Begun {
		w.Begun, w.tentative, w.call = true, true, h.Acquire.At
	}
	ws.decide(h)
}

// succeed records that a call of the hold has succeeded.
func (ws *windows) succeed(h *Hold, kind history.Kind, value int64) {
	w := &h.Windows[ws.kind]
	if h.Granted || h.refused() {
		return
	}
	a := w.impliedBy(kind, value)
	if a != nil && a.skipped {
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

// fail records that a call of the hold has failed.
func (ws *windows) fail(h *Hold, kind history.Kind, value int64) {
	w := &h.Windows[ws.kind]
	ws.drop(w, w.impliedBy(kind, value))
	ws.decide(h)
}

// writeReturned records the result of a write, if its outcome shows it.
func (ws *windows) writeReturned(h *Hold, f *Fact) {
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

// candidate returns the first call that may have begun the window; nil: there is none. Of the
// calls of one instant it prefers one that has succeeded.
func (w *HoldWindow) candidate() (first *impliedGrant) {
	for _, a := range w.implied {
		if !a.skipped && (first == nil || a.at == first.at && a.succeeded) {
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

// beginWith records that the window begins with this call and no other; nil: with none.
func (w *HoldWindow) beginWith(first *impliedGrant) {
	for i := len(w.implied) - 1; i >= 0; i-- {
		switch a := w.implied[i]; {
		case a == first:
			a.begins = true
			w.implied = Cut(w.implied, i)
		case !a.skipped:
			a.void = true
			w.implied = Cut(w.implied, i)
		}
	}
}

// dropImplied removes all implied grants of the hold, because its try has returned.
func (ws *windows) dropImplied(h *Hold) {
	w := &h.Windows[ws.kind]
	for _, a := range w.implied {
		a.void = true
	}
	w.implied = nil
	ws.decide(h)
}

// skip assumes that the window does not begin with a call, so that the events behind it can be passed on.
func (ws *windows) skip(h *Hold, a *impliedGrant) {
	a.skipped, a.void = true, true
	ws.decide(h)
	if h.Over || h.Client.Dead {
		ws.timeline.retiring = append(ws.timeline.retiring, h)
	}
}

// confirmTooLate reports that a call succeeded whose event was skipped: an overlap may have been
// missed.
func (ws *windows) confirmTooLate(h *Hold, a *impliedGrant) {
	w := &h.Windows[ws.kind]
	w.implied = Remove(w.implied, a)
	if ws.observer != nil {
		ws.observer.Missed(MissedWindow{Resource: h.Resource.Name, Token: h.Token, Client: h.Client.Number, Call: a.kind, From: a.at, Known: ws.timeline.Now})
	}
}

// dropUnreturned drops the implied grants whose calls never returned.
func (ws *windows) dropUnreturned() {
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

	// Call is when acquire was called, or the late extension that began the window. If the window
	// is empty, the lock had to be free at some instant from Call to From.
	Call history.Time

	From history.Time // when that call returned
	To   history.Time // when the window ended; if it is empty: From

	// Empty: the window ended before it began.
	Empty bool

	// Late: an extension began the window after the hold's previous window had ended, at Over.
	// Nobody else may have held the lock in between.
	Late bool
	Over history.Time

	// By is the kind of event that ended the window; 0: the history ended first.
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

// windowOf returns the window that the event ends.
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
	if !ws.canReopen() {
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

// GrantOf returns the grant of a window that began at an instant. If the try never returned, that instant counts
// as its return: see [impliedGrant].
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

// Windows calls each for every window of a kind when it ends; Close does so for the windows that are still open.
// Call Windows before the first event.
func (t *Timeline) Windows(of WindowKind, each func(Window)) {
	t.windows[of].each = each
	t.windows[of].follow()
}
