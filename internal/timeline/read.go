package timeline

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Timeline is the state that the events of a history describe so far. It finds the client, hold and call that each
// event concerns, applies the events of one instant in an order in which they can have happened, and keeps
// the holds that further events can concern.
type Timeline struct {
	Header history.Header
	docket docket

	Now       history.Time
	atInstant int // events of this instant
	deferred  []deferredEvent
	singles   []history.Event // events of this instant whose kind is in [single]
	fact      Fact            // reused for every event
	reentry   history.Event   // a grant that became a [Reentered]

	observers []Observer
	settlers  []Settler       // by observer; nil: the observer is no settler
	routes    [maxKinds]route // by kind of event
	settling  uint64          // to settle at the end of this instant, as bits: kinds of windows, and above them settlers
	intervals *intervals      // nil: nobody reads intervals

	Clients          []*Client // by number
	resources        map[string]*Resource
	recent           [64]*Resource // resources looked up last, by a cheap hash of their names
	windows          [WindowKinds]windows
	deadlines        deadlines
	retiring         []*Hold // holds that may be retired at the end of the instant
	spare            []*Hold // retired holds, to be reused with their numbers
	Places           int     // how many holds have a number
	serial           uint64  // of the newest hold
	FollowStragglers bool    // remember writes of holds that are over: see [straggler]

	Faults Faults

	Down             Nodes                // nodes whose server is not running
	Started          map[int]history.Time // by node: when its server last came up
	downed           map[int]history.Time // by node: when its server last went down
	quarantinedUntil map[int]history.Time // by node: when its quarantine is over, at the earliest
	quarantine       time.Duration        // the shortest, in true time, within the allowance for clocks
	LastEmptied      Comeback             // the last node that came back without all of its keys
	Comebacks        []Comeback           // the last such comeback of each node
	ForgetfulLeader  Comeback             // the last node that came to lead a store without all acknowledged writes
	led              history.Time         // when the leader of a store last changed
	leaderless       bool                 // the store has no leader
	seen             []history.Time       // by node (0: the store): until when all changes of its keys or entries are recorded; nil: no watch
	seenSince        []history.Time       // the same: since when
	Answered         []history.Time       // by node (0: the store): when it last answered its watch; nil: no watch
	Changes          []KeyChange          // of this instant, applied at its end
}

// route is the receivers of events of one kind, as bits.
type route struct {
	observers uint64
	settling  uint64 // added to [Timeline.settling]
	windows   uint8  // by kind of window
}

// deferredEvent is an event that follows from others of its instant, which are not recorded yet.
type deferredEvent struct {
	history.Event
	ordinal int
}

// Observer receives the events of a history.
type Observer interface {
	// Wants lists the kinds of events that Observe receives.
	Wants() Kinds
	// Observe receives an event, after the timeline has been updated.
	Observe(f *Fact)
}

// Settler is an observer that decides at the end of an instant, because events
// of one instant may come in any order.
type Settler interface {
	Observer
	// Settle is called after an instant in which an event was observed.
	Settle()
}

// SelectiveSettler is a settler that settles only instants with certain events.
type SelectiveSettler interface {
	Settler
	// Settles lists the kinds of these events.
	Settles() Kinds
}

// Kinds is a set of kinds of events.
type Kinds uint64

// maxKinds is the largest number of kinds of events, because [Kinds] has 64 bits.
const maxKinds = 64

// KindSet returns the set of the listed kinds.
func KindSet(list ...history.Kind) Kinds {
	var s Kinds
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

// Has reports whether the set contains a kind.
func (s Kinds) Has(k history.Kind) bool { return s&(1<<(k%maxKinds)) != 0 }

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
	for rest := uint64(wants); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		t.routes[k].observers |= bit
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

// Client returns the client of a number. Number 0 stands for no client.
func (t *Timeline) Client(number int) *Client {
	if known := t.Clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return t.admit(number)
}

// admit adds clients up to a number, and returns that one.
func (t *Timeline) admit(number int) *Client {
	for number >= len(t.Clients) {
		t.Clients = append(t.Clients, &Client{Number: len(t.Clients), PauseChanged: LongAgo, Cancelled: LongAgo})
	}
	return t.Clients[number]
}

// Resource returns the resource of a name.
func (t *Timeline) Resource(name string) *Resource {
	recent := &t.recent[slot(name)]
	if *recent != nil && (*recent).Name == name {
		return *recent
	}
	r := t.resources[name]
	if r == nil {
		r = &Resource{Number: len(t.resources), Name: name}
		t.resources[name] = r
		t.crowded()
	}
	*recent = r
	return r
}

// slot returns the index of a name in recent. It hashes the end of the name, because many names differ only there.
func slot(name string) int {
	if len(name) < 2 {
		return 0
	}
	return (int(name[len(name)-1]) + 10*int(name[len(name)-2])) % 64
}

// ResourcesInOrder returns all resources in the order of their names.
func (t *Timeline) ResourcesInOrder() []*Resource {
	all := slices.Collect(maps.Values(t.resources))
	slices.SortFunc(all, func(a, b *Resource) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// LongAgo is before every instant of a history, with room to add to it.
const LongAgo history.Time = math.MinInt64 / 2

// Forever is after every instant of a history.
const Forever history.Time = math.MaxInt64

// PerResource is an observer's state of each resource. The zero value has the zero state of all.
type PerResource[T any] struct {
	first T // most histories have one resource
	more  []*T
}

// Of returns the state of the resource.
func (p *PerResource[T]) Of(r *Resource) *T {
	if r.Number == 0 {
		return &p.first
	}
	return p.another(r)
}

func (p *PerResource[T]) another(r *Resource) *T {
	for len(p.more) < r.Number {
		p.more = append(p.more, new(T))
	}
	return p.more[r.Number-1]
}

// Each calls do with the state of each resource.
func (p *PerResource[T]) Each(do func(*T)) {
	do(&p.first)
	for _, one := range p.more {
		do(one)
	}
}

// usual is the number of observers for which a timeline has room at first: the most that a checker adds.
const usual = 24

// few is the number of holds, or of clients, for which [PerHold] and [PerClient] have room at first.
const few = 12

// PerClient is an observer's state of each client.
type PerClient[T any] struct{ list []T }

// Of returns the state of the client. The pointer is valid until the next call.
func (p *PerClient[T]) Of(c *Client) *T {
	if c.Number >= len(p.list) {
		p.grow(c)
	}
	return &p.list[c.Number]
}

func (p *PerClient[T]) grow(c *Client) {
	p.list = append(p.list, make([]T, max(few, c.Number+1)-len(p.list))...)
}

// PerHold is an observer's state of each hold that the timeline keeps.
type PerHold[T any] struct{ list []holdState[T] }

type holdState[T any] struct {
	serial uint64 // of the hold
	state  T
}

// Of returns the state of the hold. The pointer is valid until the next call.
func (p *PerHold[T]) Of(h *Hold) *T {
	if h.number < len(p.list) && p.list[h.number].serial == h.serial {
		return &p.list[h.number].state
	}
	return p.begin(h)
}

func (p *PerHold[T]) begin(h *Hold) *T {
	if len(p.list) <= h.number {
		p.list = append(p.list, make([]holdState[T], max(few, h.number+1)-len(p.list))...)
	}
	m := &p.list[h.number]
	*m = holdState[T]{serial: h.serial}
	return &m.state
}

// Remove removes v from a short list and keeps the order.
func Remove[T comparable](list []T, v T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return Cut(list, i)
		}
	}
	return list
}

// Cut removes an element of a list, most often the last.
func Cut[T any](list []T, i int) []T {
	last := len(list) - 1
	if i < last {
		copy(list[i:], list[i+1:])
	}
	var none T
	list[last] = none
	return list[:last]
}

// Without removes the elements of a list for which so is true, in order.
func Without[T any](list []T, so func(*T) bool) []T {
	kept := list[:0]
	for i := range list {
		if !so(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}
