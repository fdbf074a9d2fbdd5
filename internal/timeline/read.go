package timeline

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Timeline is the timeline of a history: what its events say so far. It finds the client, hold and call that each
// event is about, takes the events of one instant in an order in which they can have happened, and keeps
// the holds that further events can concern.
type Timeline struct {
	Header history.Header
	docket docket

	Now       history.Time
	atInstant int             // events of this instant
	late      []late          // events of this instant that wait for others of it
	told      []history.Event // events of this instant: see [single]
	fact      Fact
	entered   history.Event // made of a grant: see [Reentered]

	observers []Observer
	settlers  []Settler       // by observer; nil: it does nothing at the end of an instant
	routes    [maxKinds]route // by kind of event
	settling  uint64          // bits: which kinds of windows change in this instant, and then which settlers run at its end
	intervals *intervals      // nil: nobody asks for them

	Clients          []*Client // by number
	resources        map[string]*Resource
	recent           [64]*Resource // resources looked up last, by a cheap hash of their names
	windows          [WindowKinds]windows
	deadlines        deadlines
	retiring         []*Hold // holds that may be retired at the end of the instant
	spare            []*Hold // retired holds, to be reused with their numbers
	Places           int     // how many holds have a number
	serial           uint64  // of the newest hold
	FollowStragglers bool    // they are asked for: see [straggler]

	Faults Faults

	Down            Nodes                // nodes whose server is not running
	Started         map[int]history.Time // by node: when its server last came up
	downed          map[int]history.Time // by node: when its server last went down
	LastEmptied     Comeback             // the last node that came back without all of its keys
	Comebacks       []Comeback           // the last one of each such node
	ForgetfulLeader Comeback             // the last node that came to lead a store without all acknowledged writes
	led             history.Time         // when the leader of a store last changed
	leaderless      bool                 // the store has none
	seen            []history.Time       // by node: up to then all changes of its keys, or of a store's entries (0), are recorded; nil: no watch reports them
	Answered        []history.Time       // by node: when it, or the store (0), last answered its watch; nil: there is none
	Changes         []KeyChange          // of this instant, to be entered at its end
}

// route is the receivers of events of one kind, as bits.
type route struct {
	hearing  uint64 // observers
	settling uint64 // settlers that run at the end of the instant
	windows  uint8  // windows, by their kind
}

// late is an event that waits for others of its instant.
type late struct {
	history.Event
	ordinal int
}

// Observer receives the events of a history.
type Observer interface {
	// Wants lists the kinds of events that it receives.
	Wants() Kinds
	// Observe receives an event. The timeline has been updated by it.
	Observe(f *Fact)
}

// Settler is an observer that decides at the end of an instant, because events
// of one instant may come in any order.
type Settler interface {
	Observer
	// Settle is called after an instant in which an event was observed.
	Settle()
}

// SelectiveSettler is a settler that runs after some of the events that it receives.
type SelectiveSettler interface {
	Settler
	// Settles lists the kinds of events after which Settle is called.
	Settles() Kinds
}

// Kinds is a set of kinds of events.
type Kinds uint64

// maxKinds is the largest number of kinds of events: see [Kinds].
const maxKinds = 64

// KindSet is the set of some kinds.
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
// until, the timeline takes that of the events' times.
func New(h history.Header) *Timeline {
	t := &Timeline{Header: h, Started: map[int]history.Time{}, downed: map[int]history.Time{}, resources: map[string]*Resource{}, Faults: Faults{going: map[int]bool{}}}
	t.Clients = make([]*Client, 0, h.Clients+1)
	t.observers, t.settlers = make([]Observer, 0, usual), make([]Settler, 0, usual)
	t.Client(h.Clients)
	if h.Watched {
		t.seen, t.Answered = make([]history.Time, h.Nodes+1), make([]history.Time, h.Nodes+1)
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
	hears, settles := o.Wants(), Kinds(0)
	s, _ := o.(Settler)
	if c, calm := o.(SelectiveSettler); calm {
		settles = c.Settles()
	} else if s != nil {
		settles = hears
	}
	for rest := uint64(hears); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		t.routes[k].hearing |= bit
		if settles.Has(history.Kind(k)) {
			t.routes[k].settling |= bit << WindowKinds
		}
	}
	t.observers, t.settlers = append(t.observers, o), append(t.settlers, s)
}

// ListenToWindows makes an observer receive the begins and ends of windows of a kind. There can be one.
func (t *Timeline) ListenToWindows(of WindowKind, o WindowObserver) {
	t.windows[of].observer = o
	t.windows[of].follow()
}

// Record takes the next event. Events must come in the order of time. Events of
// one instant may come in any order, with three exceptions, which are taken in the
// order in which they are recorded: calls of one kind that a client makes under one
// token, and their returns; changes that a node makes to the keys of one resource; and
// a grant that enters a hold again, before the release that leaves it.
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
		t.wait(e)
	}
}

// Close settles the last instant, and says of each window that is open that the history ends.
func (t *Timeline) Close() {
	t.settle()
	for kind := range t.windows {
		t.windows[kind].finish(t.Now)
	}
	if t.intervals != nil {
		t.intervals.finish(t.Now)
	}
}

// passTo ends the present instant, and those at which holds end by their until, up to an event's.
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

// take passes the event to its observers. It returns false if the event has to wait for
// another of its instant. The caller then tries again after the others. With force it updates what it can
// and reports what contradicts the history.
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
	for rest := r.hearing; rest != 0; rest &= rest - 1 {
		t.observers[bits.TrailingZeros64(rest)].Observe(f)
	}
	t.settling |= r.settling
	return true
}

// ends are the kinds of events that can be taken before what they wait for: see [Timeline.about].
var ends = KindSet(history.Expiring, history.Lost, history.Lapse)

// wait puts an event aside until others of its instant have come.
func (t *Timeline) wait(e *history.Event) {
	if len(t.late) < maxLate {
		t.late = append(t.late, late{*e, t.docket.event})
		return
	}
	if ends.Has(e.Kind) && t.take(e, t.docket.event, true) {
		return
	}
	t.refuse("more than %d events of one instant, %s, come before what they follow from", maxLate, textfmt.Instant(e.Time))
}

// unsettled reports whether there is anything to do at the end of the instant. Usually there is
// nothing.
func (t *Timeline) unsettled() bool {
	return len(t.late)|len(t.told)|len(t.Changes)|len(t.retiring)|int(t.settling) != 0 || t.nextDeadline() <= t.Now
}

// settle closes an instant.
func (t *Timeline) settle() {
	if len(t.late) > 0 {
		t.takeLate()
	}
	for t.nextDeadline() <= t.Now {
		t.take(t.nextLapse(), 0, true)
	}
	t.told = t.told[:0]
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

// takeLate takes the events that waited for others of the instant. If none of them
// can be taken, calls go before returns.
func (t *Timeline) takeLate() {
	defer func(event int) { t.docket.event = event }(t.docket.event)
	for len(t.late) > 0 {
		if t.takeFirstReady() {
			continue
		}
		next := max(0, slices.IndexFunc(t.late, func(v late) bool { return isCall(v.Kind) }))
		t.takeLateEvent(next, true)
	}
}

// takeFirstReady takes the first late event that need not wait any more, and reports whether there
// was one.
func (t *Timeline) takeFirstReady() bool {
	for i := range t.late {
		if t.takeLateEvent(i, false) {
			return true
		}
	}
	return false
}

// takeLateEvent takes one of the late events and removes it from the list.
func (t *Timeline) takeLateEvent(i int, force bool) bool {
	v := &t.late[i]
	t.docket.event = v.ordinal
	if !t.take(&v.Event, v.ordinal, force) {
		return false
	}
	t.late = slices.Delete(t.late, i, i+1)
	return true
}

// Client returns a client. Number 0 stands for none.
func (t *Timeline) Client(number int) *Client {
	if known := t.Clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return t.admit(number)
}

// admit adds clients up to a number.
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

// slot is an index into the recent resources. Many names differ at their ends.
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

// PerResource is what an observer has to remember of each resource. The
// zero value remembers nothing of any.
type PerResource[T any] struct {
	first T // most histories have one resource
	more  []*T
}

// Of returns what is remembered of the resource, from its zero value on.
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

// Each calls do with what is remembered of each resource.
func (p *PerResource[T]) Each(do func(*T)) {
	do(&p.first)
	for _, one := range p.more {
		do(one)
	}
}

// usual is how many observers a timeline has at most, unless somebody adds to a checker's.
const usual = 24

// few is how many holds, or clients, a small history has at a time.
const few = 12

// PerClient is the same for each client.
type PerClient[T any] struct{ list []T }

// Of returns what is remembered of the client. It is valid until the next call.
func (p *PerClient[T]) Of(c *Client) *T {
	if c.Number >= len(p.list) {
		p.grow(c)
	}
	return &p.list[c.Number]
}

func (p *PerClient[T]) grow(c *Client) {
	p.list = append(p.list, make([]T, max(few, c.Number+1)-len(p.list))...)
}

// PerHold is the same for each hold, as long as the timeline keeps it. A result is valid until the
// next call.
type PerHold[T any] struct{ list []remembered[T] }

type remembered[T any] struct {
	serial uint64 // of the hold
	what   T
}

// Of returns what is remembered of the hold, from its zero value on.
func (p *PerHold[T]) Of(h *Hold) *T {
	if h.number < len(p.list) && p.list[h.number].serial == h.serial {
		return &p.list[h.number].what
	}
	return p.begin(h)
}

func (p *PerHold[T]) begin(h *Hold) *T {
	if len(p.list) <= h.number {
		p.list = append(p.list, make([]remembered[T], max(few, h.number+1)-len(p.list))...)
	}
	m := &p.list[h.number]
	*m = remembered[T]{serial: h.serial}
	return &m.what
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
