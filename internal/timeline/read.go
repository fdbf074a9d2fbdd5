package timeline

import (
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// usual is the number of observers for which a timeline has room at first: the most that a checker adds.
const usual = 24

// New returns the timeline of a history that begins with the header. If the header does not name the clock of
// until, that clock is the one of the events' times.
func New(h history.Header) *Timeline {
	t := &Timeline{Header: h, Started: map[int]history.Time{}, downed: map[int]history.Time{}, quarantine: shortestQuarantine(h), resources: map[string]*Resource{}, Faults: Faults{going: map[int]bool{}}}
	t.Clients = make([]*Client, 0, h.Clients+1)
	t.observers, t.settlers = make([]Observer, 0, usual), make([]Settler, 0, usual)
	t.Client(h.Clients)
	if h.Watched {
		t.seen, t.seenSince, t.Answered = make([]history.Time, h.Nodes+1), make([]history.Time, h.Nodes+1), make([]history.Time, h.Nodes+1)
	}
	for kind := range t.windows {
		t.windows[kind] = windows{kind: WindowKind(kind), ends: windowEnds[kind], timeline: t}
	}
	t.windows[LeaseWindow].follow()
	return t
}

// Listen adds an observer. It receives events after those that were added before.
func (t *Timeline) Listen(o Observer) {
	bit := uint64(1) << len(t.observers)
	wants, settles := o.Wants(), Kinds(0)
	s, _ := o.(Settler)
	if c, selective := o.(SelectiveSettler); selective {
		settles = c.Settles()
	} else if s != nil {
		settles = wants
	}
	if wants == 0 {
		settles = 0
	}
	for rest := uint64(wants | settles); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		if wants.Has(history.Kind(k)) {
			t.routes[k].observers |= bit
		}
		if settles.Has(history.Kind(k)) {
			t.routes[k].settling |= bit << WindowKinds
		}
	}
	t.observers, t.settlers = append(t.observers, o), append(t.settlers, s)
}

// ListenToWindows makes an observer receive the begins and ends of windows of a kind. Each kind has at most one
// observer.
func (t *Timeline) ListenToWindows(of WindowKind, o WindowObserver) {
	t.windows[of].observer = o
	t.windows[of].follow()
}

// Record applies the next event. Events must come in the order of time. Events of one instant may come in any
// order, except for these, which are applied in the order in which they are recorded:
//
//   - calls of one kind that a client makes under one token, and their returns;
//   - changes that a node makes to the keys of one resource;
//   - a grant that enters a hold again, before the release that leaves it.
func (t *Timeline) Record(e *history.Event) {
	t.docket.event++
	if e.Kind == history.Step && !isTryStep(e.Name) || t.docket.full {
		return
	}
	if e.Time != t.Now {
		t.passTo(e.Time)
	}
	if t.atInstant++; t.atInstant > maxInstant {
		t.refuse("more than %d events at one instant, %s", maxInstant, textfmt.Instant(e.Time))
		return
	}
	if single.Has(e.Kind) {
		t.checkRepeated(e)
	}
	if !t.take(e, t.docket.event, false) {
		t.deferEvent(e)
	}
}

// Close settles the last instant, and ends each open window with the end of the history.
func (t *Timeline) Close() {
	t.settle()
	for kind := range t.windows {
		t.windows[kind].finish(t.Now)
	}
	if t.intervals != nil {
		t.intervals.finish(t.Now)
	}
}

// passTo ends the present instant and moves on to the instant of the next event. In between it stops at each
// instant at which a hold reaches its until.
func (t *Timeline) passTo(to history.Time) {
	for {
		if t.unsettled() {
			t.settle()
		}
		due := t.nextDeadline()
		if due >= to {
			break
		}
		t.Now = due
	}
	t.Now, t.atInstant = to, 0
}

// take updates the timeline by the event and passes it to the observers. It returns false, and does nothing, if the
// event has to wait for another of its instant; the caller then defers it. With force it does not wait: it updates
// what it can, and reports a contradiction.
func (t *Timeline) take(e *history.Event, ordinal int, force bool) bool {
	f := &t.fact
	*f = Fact{Event: e, Ordinal: ordinal}
	if !t.resolve(f, force) {
		return false
	}
	r := &t.routes[f.Kind%maxKinds]
	for rest := r.windows; rest != 0; rest &= rest - 1 {
		t.windows[bits.TrailingZeros8(rest)].observe(f)
	}
	for rest := r.observers; rest != 0; rest &= rest - 1 {
		t.observers[bits.TrailingZeros64(rest)].Observe(f)
	}
	t.settling |= r.settling
	return true
}

// resolve finds what the event is about and updates the timeline: see [Timeline.take]. It returns false, and
// does nothing, if the event has to wait.
func (t *Timeline) resolve(f *Fact, force bool) bool {
	c := t.Client(f.Client)
	f.Actor = c
	if c.Dead && f.posthumous() && !t.contradictDead(f, force) {
		return false
	}
	if enter := entries[f.Kind]; enter != nil && !enter(t, f, force) {
		return false
	}
	if noted.Has(f.Kind) {
		t.Faults.observe(f)
	}
	if h := f.Hold; h != nil && (h.Over || h.Client.Dead) {
		t.retiring = append(t.retiring, h)
	}
	return true
}

// posthumous reports whether the event is an act of a client that had died before.
func (f *Fact) posthumous() bool {
	return f.Actor.Dead && f.Actor.Died != f.Time && acts.Has(f.Kind)
}

// acts are the kinds of events that only a living client causes. Requests and writes that a
// dead client had sent can still arrive.
var acts = KindSet(history.Acquire, history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed,
	history.Expiring, history.Lost, history.Release, history.Released,
	history.Read, history.ReadDone, history.Write, history.WriteDone, history.Check, history.Checked, history.Kill, history.Step)

// contradictDead reports an act of a dead client.
func (t *Timeline) contradictDead(f *Fact, force bool) bool {
	return force && t.contradict("%s comes after the client's death at %s", naming(f.Event), textfmt.Instant(f.Actor.Died))
}

// entries are the functions that update the timeline, by kind of event.
var entries = [1 << 8]func(l *Timeline, f *Fact, force bool) bool{
	history.Acquire: (*Timeline).acquire,
	history.Granted: (*Timeline).granted,
	history.Refused: (*Timeline).refused,

	history.Extend:       (*Timeline).extend,
	history.Extended:     (*Timeline).extended,
	history.ExtendFailed: (*Timeline).extendFailed,

	history.Expiring: (*Timeline).about,
	history.Lost:     (*Timeline).lost,
	history.Lapse:    (*Timeline).lapse,

	history.Release:  (*Timeline).release,
	history.Released: (*Timeline).released,

	history.Read:      (*Timeline).read,
	history.ReadDone:  (*Timeline).readDone,
	history.Write:     (*Timeline).write,
	history.WriteDone: (*Timeline).writeDone,
	history.Apply:     (*Timeline).apply,

	history.Pause:  func(_ *Timeline, f *Fact, _ bool) bool { f.Actor.setPaused(true, f.Time); return true },
	history.Resume: (*Timeline).resume,
	history.Kill:   (*Timeline).kill,
	history.Cancel: (*Timeline).cancel,

	history.NodeDown: (*Timeline).nodeDown,
	history.NodeUp:   (*Timeline).nodeUp,
	history.LinkDown: (*Timeline).linkDown,
	history.LinkUp:   (*Timeline).linkUp,

	history.KeySet:      (*Timeline).keyChanged,
	history.KeyExtended: (*Timeline).keyChanged,
	history.KeyGone:     (*Timeline).keyChanged,

	history.FaultStart: (*Timeline).faultStart,
	history.FaultEnd:   (*Timeline).faultEnd,

	history.Leader:    (*Timeline).leader,
	history.EntryGone: (*Timeline).entryGone,

	history.EntrySet:     (*Timeline).entrySet,
	history.EntryDeleted: (*Timeline).entryDeleted,
	history.EntriesSeen:  (*Timeline).entriesSeen,

	history.Step: (*Timeline).step,

	history.Check:   (*Timeline).check,
	history.Checked: (*Timeline).checked,
}

// ends are the kinds of events that may be forced before the event for which they wait: see [Timeline.about].
var ends = KindSet(history.Expiring, history.Lost, history.Lapse)

// deferEvent keeps an event until the others of its instant are recorded.
func (t *Timeline) deferEvent(e *history.Event) {
	if len(t.deferred) < maxDeferred {
		t.deferred = append(t.deferred, deferredEvent{*e, t.docket.event})
		return
	}
	if ends.Has(e.Kind) && t.take(e, t.docket.event, true) {
		return
	}
	t.refuse("more than %d events of one instant, %s, come before what they follow from", maxDeferred, textfmt.Instant(e.Time))
}

// unsettled reports whether settle has anything to do. Usually there is nothing.
func (t *Timeline) unsettled() bool {
	return len(t.deferred)|len(t.singles)|len(t.Changes)|len(t.retiring)|int(t.settling) != 0 || t.nextDeadline() <= t.Now
}

// settle ends the present instant: it applies what waited for its end, and calls the settlers.
func (t *Timeline) settle() {
	if len(t.deferred) > 0 {
		t.takeDeferred()
	}
	for t.nextDeadline() <= t.Now {
		t.take(t.nextLapse(), 0, true)
	}
	t.singles = t.singles[:0]
	if len(t.Changes) > 0 {
		t.settleKeys()
	}
	for rest := t.settling & (1<<WindowKinds - 1); rest != 0; rest &= rest - 1 {
		t.windows[bits.TrailingZeros64(rest)].settle()
	}
	for rest := t.settling >> WindowKinds; rest != 0; rest &= rest - 1 {
		t.settlers[bits.TrailingZeros64(rest)].Settle()
	}
	t.settling = 0
	if len(t.retiring) > 0 || len(t.Changes) > 0 {
		t.retireAll()
	}
}

// takeDeferred takes the deferred events. If each waits for another, it forces one, a call before a return.
func (t *Timeline) takeDeferred() {
	defer func(event int) { t.docket.event = event }(t.docket.event)
	for len(t.deferred) > 0 {
		if t.takeFirstReady() {
			continue
		}
		next := max(0, slices.IndexFunc(t.deferred, func(v deferredEvent) bool { return isCall(v.Kind) }))
		t.takeDeferredAt(next, true)
	}
}

// takeFirstReady takes the first deferred event that need not wait any more, and reports whether there
// was one.
func (t *Timeline) takeFirstReady() bool {
	for i := range t.deferred {
		if t.takeDeferredAt(i, false) {
			return true
		}
	}
	return false
}

// takeDeferredAt takes the deferred event of an index and, if it need not wait, removes it from the list.
func (t *Timeline) takeDeferredAt(i int, force bool) bool {
	v := &t.deferred[i]
	t.docket.event = v.ordinal
	if !t.take(&v.Event, v.ordinal, force) {
		return false
	}
	t.deferred = slices.Delete(t.deferred, i, i+1)
	return true
}
