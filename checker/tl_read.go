package checker

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// state is the timeline of a history: what its events say so far. It finds the client, hold and call that each
// event is about, takes the events of one instant in an order in which they can have happened, and keeps
// the holds that further events can concern.
type state struct {
	header history.Header
	docket contradictions

	now       history.Time
	atInstant int             // events of this instant
	late      []late          // events of this instant that wait for others of it
	told      []history.Event // events of this instant: see [single]
	fact      fact
	entered   history.Event // made of a grant: see [reentered]

	observers []observer
	settlers  []settler       // by observer; nil: it does nothing at the end of an instant
	routes    [maxKinds]route // by kind of event
	settling  uint64          // bits: which settlers run at the end of this instant

	clients    []*client // by number
	resources  map[string]*resource
	recent     [64]*resource // resources looked up last, by a cheap hash of their names
	windows    [windowKinds]windows
	deadlines  deadlines
	retiring   []*hold // holds that may be retired at the end of the instant
	spare      []*hold // retired holds, to be reused with their numbers
	places     int     // how many holds have a number
	serial     uint64  // of the newest hold
	stragglers bool    // they are asked for: see [straggler]

	faultLog faultLog

	down       nodes                // nodes whose server is not running
	started    map[int]history.Time // by node: when its server last came up
	downed     map[int]history.Time // by node: when its server last went down
	emptied    comeback             // the last node that came back without all of its keys
	comebacks  []comeback           // the last one of each such node
	forgetful  comeback             // the last node that came to lead a store without all acknowledged writes
	led        history.Time         // when the leader of a store last changed
	leaderless bool                 // the store has none
	seen       []history.Time       // by node: up to then all changes of its keys, or of a store's entries (0), are recorded; nil: no watch reports them
	answered   []history.Time       // by node: when it, or the store (0), last answered its watch; nil: there is none
	changes    []keyChange          // of this instant, to be entered at its end
}

// route is the receivers of events of one kind, as bits.
type route struct {
	hearing  uint64 // observers
	settling uint64 // settlers that run at the end of the instant
}

// late is an event that waits for others of its instant.
type late struct {
	history.Event
	ordinal int
}

// observer receives the events of a history.
type observer interface {
	// wants lists the kinds of events that it receives.
	wants() kinds
	// observe receives an event. The timeline has been updated by it.
	observe(f *fact)
}

// settler is an observer that decides at the end of an instant, because events
// of one instant may come in any order.
type settler interface {
	observer
	// settle is called after an instant in which an event was observed.
	settle()
}

// selectiveSettler is a settler that runs after some of the events that it receives.
type selectiveSettler interface {
	settler
	// settles lists the kinds of events after which settle is called.
	settles() kinds
}

// kinds is a set of kinds of events.
type kinds uint64

// maxKinds is the largest number of kinds of events: see [kinds].
const maxKinds = 64

func kindSet(list ...history.Kind) kinds {
	var s kinds
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

func (s kinds) has(k history.Kind) bool { return s&(1<<(k%maxKinds)) != 0 }

func newState(h history.Header) *state {
	l := &state{header: h, started: map[int]history.Time{}, downed: map[int]history.Time{}, resources: map[string]*resource{}, faultLog: faultLog{going: map[int]bool{}}}
	l.client(h.Clients)
	if h.Watched {
		l.seen, l.answered = make([]history.Time, h.Nodes+1), make([]history.Time, h.Nodes+1)
	}
	for kind := range l.windows {
		l.windows[kind].kind, l.windows[kind].ends, l.windows[kind].state = windowKind(kind), windowEnds[kind], l
	}
	l.windows[leaseWindow].follow()
	return l
}

// listen adds an observer. It receives events after those that were added before.
func (l *state) listen(o observer) {
	bit := uint64(1) << len(l.observers)
	hears, settles := o.wants(), kinds(0)
	s, _ := o.(settler)
	if c, calm := o.(selectiveSettler); calm {
		settles = c.settles()
	} else if s != nil {
		settles = hears
	}
	for rest := uint64(hears); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		l.routes[k].hearing |= bit
		if settles.has(history.Kind(k)) {
			l.routes[k].settling |= bit
		}
	}
	l.observers, l.settlers = append(l.observers, o), append(l.settlers, s)
}

// listenToWindows makes an observer receive the begins and ends of windows of a kind. There can be one.
func (l *state) listenToWindows(of windowKind, o windowObserver) {
	l.windows[of].observer = o
	l.windows[of].follow()
}

// Record takes the next event. Events must come in the order of time. Events of
// one instant may come in any order, with three exceptions, which are taken in the
// order in which they are recorded: calls of one kind that a client makes under one
// token, and their returns; changes that a node makes to the keys of one resource; and
// a grant that enters a hold again, before the release that leaves it.
func (l *state) Record(e *history.Event) {
	l.docket.event++
	if e.Kind == history.Step && !isTryStep(e.Name) || l.docket.full {
		return
	}
	if e.Time != l.now {
		l.passTo(e.Time)
	}
	if l.atInstant++; l.atInstant > maxInstant {
		l.refuse("more than %d events at one instant, %s", maxInstant, textfmt.Instant(e.Time))
		return
	}
	if single.has(e.Kind) {
		l.checkRepeated(e)
	}
	if !l.take(e, l.docket.event, false) {
		l.wait(e)
	}
}

// Close settles the last instant, and says of each window that is open that the history ends.
func (l *state) Close() {
	l.settle()
	for kind := range l.windows {
		l.windows[kind].finish(l.now)
	}
}

// passTo ends the present instant, and those at which holds end by their until, up to an event's.
func (l *state) passTo(to history.Time) {
	for {
		if l.unsettled() {
			l.settle()
		}
		due := l.nextDeadline()
		if due >= to {
			break
		}
		l.now = due
	}
	l.now, l.atInstant = to, 0
}

// take passes the event to its observers. It returns false if the event has to wait for
// another of its instant. The caller then tries again after the others. With force it updates what it can
// and reports what contradicts the history.
func (l *state) take(e *history.Event, ordinal int, force bool) bool {
	f := &l.fact
	*f = fact{Event: e, ordinal: ordinal}
	if !l.resolve(f, force) {
		return false
	}
	for kind := range l.windows {
		if w := &l.windows[kind]; w.wants.has(f.Kind) {
			w.observe(f)
		}
	}
	r := &l.routes[f.Kind%maxKinds]
	for rest := r.hearing; rest != 0; rest &= rest - 1 {
		l.observers[bits.TrailingZeros64(rest)].observe(f)
	}
	l.settling |= r.settling
	return true
}

// ends are the kinds of events that can be taken before what they wait for: see [state.about].
var ends = kindSet(history.Expiring, history.Lost, history.Lapse)

// wait puts an event aside until others of its instant have come.
func (l *state) wait(e *history.Event) {
	if len(l.late) < maxLate {
		l.late = append(l.late, late{*e, l.docket.event})
		return
	}
	if ends.has(e.Kind) && l.take(e, l.docket.event, true) {
		return
	}
	l.refuse("more than %d events of one instant, %s, come before what they follow from", maxLate, textfmt.Instant(e.Time))
}

// unsettled reports whether there is anything to do at the end of the instant. Usually there is
// nothing.
func (l *state) unsettled() bool {
	return len(l.late)|len(l.told)|len(l.changes)|len(l.retiring)|int(l.settling)|
		len(l.windows[leaseWindow].events)|len(l.windows[sectionWindow].events) != 0 || l.nextDeadline() <= l.now
}

// settle closes an instant.
func (l *state) settle() {
	if len(l.late) > 0 {
		l.takeLate()
	}
	for l.nextDeadline() <= l.now {
		l.take(l.nextLapse(), 0, true)
	}
	l.told = l.told[:0]
	if len(l.changes) > 0 {
		l.settleKeys()
	}
	for kind := range l.windows {
		if len(l.windows[kind].events) > 0 {
			l.windows[kind].settle()
		}
	}
	for rest := l.settling; rest != 0; rest &= rest - 1 {
		l.settlers[bits.TrailingZeros64(rest)].settle()
	}
	l.settling = 0
	if len(l.retiring) > 0 || len(l.changes) > 0 {
		l.retireAll()
	}
}

// takeLate takes the events that waited for others of the instant. If none of them
// can be taken, calls go before returns.
func (l *state) takeLate() {
	defer func(event int) { l.docket.event = event }(l.docket.event)
	for len(l.late) > 0 {
		if l.takeFirstReady() {
			continue
		}
		next := max(0, slices.IndexFunc(l.late, func(v late) bool { return isCall(v.Kind) }))
		l.takeLateEvent(next, true)
	}
}

// takeFirstReady takes the first late event that need not wait any more, and reports whether there
// was one.
func (l *state) takeFirstReady() bool {
	for i := range l.late {
		if l.takeLateEvent(i, false) {
			return true
		}
	}
	return false
}

// takeLateEvent takes one of the late events and removes it from the list.
func (l *state) takeLateEvent(i int, force bool) bool {
	v := &l.late[i]
	l.docket.event = v.ordinal
	if !l.take(&v.Event, v.ordinal, force) {
		return false
	}
	l.late = slices.Delete(l.late, i, i+1)
	return true
}

func (l *state) client(number int) *client {
	if known := l.clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return l.admit(number)
}

// admit adds clients up to a number.
func (l *state) admit(number int) *client {
	for number >= len(l.clients) {
		l.clients = append(l.clients, &client{number: len(l.clients), turned: longAgo, cancelled: longAgo})
	}
	return l.clients[number]
}

func (l *state) resource(name string) *resource {
	recent := &l.recent[slot(name)]
	if *recent != nil && (*recent).name == name {
		return *recent
	}
	r := l.resources[name]
	if r == nil {
		r = &resource{number: len(l.resources), name: name}
		l.resources[name] = r
		l.crowded()
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

// inOrder returns all resources in the order of their names.
func (l *state) inOrder() []*resource {
	all := slices.Collect(maps.Values(l.resources))
	slices.SortFunc(all, func(a, b *resource) int { return strings.Compare(a.name, b.name) })
	return all
}

// longAgo is before every instant of a history, with room to add to it.
const longAgo history.Time = math.MinInt64 / 2

// forever is after every instant of a history.
const forever history.Time = math.MaxInt64

// perResource is what an observer has to remember of each resource. The
// zero value remembers nothing of any.
type perResource[T any] struct{ list []*T }

// of returns what is remembered of the resource, from its zero value on.
func (p *perResource[T]) of(r *resource) *T {
	for len(p.list) <= r.number {
		p.list = append(p.list, new(T))
	}
	return p.list[r.number]
}

// perClient is the same for each client.
type perClient[T any] struct{ list []T }

// of returns what is remembered of the client. It is valid until the next call.
func (p *perClient[T]) of(c *client) *T {
	for len(p.list) <= c.number {
		p.list = append(p.list, *new(T))
	}
	return &p.list[c.number]
}

// perHold is the same for each hold, as long as the timeline keeps it. A result is valid until the
// next call.
type perHold[T any] struct{ list []remembered[T] }

type remembered[T any] struct {
	serial uint64 // of the hold
	what   T
}

func (p *perHold[T]) of(h *hold) *T {
	for len(p.list) <= h.number {
		p.list = append(p.list, remembered[T]{})
	}
	m := &p.list[h.number]
	if m.serial != h.serial {
		*m = remembered[T]{serial: h.serial}
	}
	return &m.what
}

// remove removes v from a short list and keeps the order.
func remove[T comparable](list []T, v T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return cut(list, i)
		}
	}
	return list
}

// cut removes an element of a list, most often the last.
func cut[T any](list []T, i int) []T {
	last := len(list) - 1
	if i < last {
		copy(list[i:], list[i+1:])
	}
	var none T
	list[last] = none
	return list[:last]
}

// without removes the elements of a list for which so is true, in order.
func without[T any](list []T, so func(*T) bool) []T {
	kept := list[:0]
	for i := range list {
		if !so(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}
