package checker

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Checker judges one history. It is a [history.Sink]. It is not safe for
// concurrent use.
type Checker struct {
	state    *state
	faultLog *faultLog
	asked    []Property // the properties that are reported: those of the last checkers
	checkers []propertyChecker
	meters   []meter

	observers []observer      // the checkers, and then the meters
	settlers  []settler       // by observer; nil: it does nothing at the end of an instant
	routes    [maxKinds]route // by kind of event
	settling  uint64          // bits: which settlers run at the end of this instant

	byClient *Checker // takes the same events with every until on its client's clock; nil: the clock is known

	now history.Time

	atInstant int             // events of this instant
	cut       string          // why the history is incomplete; empty if it is complete
	late      []late          // events of this instant that wait for others of it
	told      []history.Event // events of this instant: see [single]
	fact      fact
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
	// observe receives an event. The state has been updated by it.
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

// propertyChecker judges one property.
type propertyChecker interface {
	observer
	// finding is called once, at the end. end is the instant of the last event.
	finding(end history.Time) Finding
}

// New returns a checker of the history that begins with the header. It judges all
// properties and measures. If properties are named, it judges these alone and
// measures nothing.
//
// If the header does not name the clock of until, the events show it. Until they do, the checker
// judges the history by either clock.
func New(h history.Header, only ...Property) *Checker {
	p := newChecker(h, only)
	if h.UntilClock == "" {
		h.UntilClock = history.ClientClock
		p.byClient = newChecker(h, only)
	}
	return p
}

func newChecker(h history.Header, only []Property) *Checker {
	p := &Checker{cut: endless, state: newState(h), faultLog: &faultLog{}}
	most := len(properties) + len(meters)
	p.observers, p.settlers = make([]observer, 0, most), make([]settler, 0, most)
	for _, a := range properties {
		asked := len(only) == 0 || slices.Contains(only, a.property)
		if !asked && a.property != Lease { // other checkers use its windows
			continue
		}
		j := a.newChecker(h, p.state, p.faultLog)
		p.listen(j)
		p.checkers = append(p.checkers, j)
		if asked {
			p.asked = append(p.asked, a.property)
		}
	}
	if len(only) > 0 {
		return p
	}
	for _, newMeter := range meters {
		m := newMeter(h, p.state)
		p.meters = append(p.meters, m)
		p.listen(m)
	}
	return p
}

// endless is why a history without an end event is incomplete.
const endless = "the history has no end"

// checkerOf returns the checker of a property that New was asked for. It panics for others.
func (p *Checker) checkerOf(asked Property) propertyChecker {
	i := slices.Index(p.asked, asked)
	if i < 0 {
		panic("checker: New was not asked for " + asked.String())
	}
	return p.checkers[p.silent()+i]
}

// allCheckers are those of the properties, by either clock.
func (p *Checker) allCheckers() []propertyChecker {
	if p.byClient == nil {
		return p.checkers
	}
	return slices.Concat(p.checkers, p.byClient.checkers)
}

// silent is the number of leading checkers that the caller did not select.
func (p *Checker) silent() int { return len(p.checkers) - len(p.asked) }

// maxKinds is the largest number of kinds of events: see [kinds].
const maxKinds = 64

// listen adds an observer. It receives events after those that were added before.
func (p *Checker) listen(o observer) {
	bit := uint64(1) << len(p.observers)
	hears, settles := o.wants(), kinds(0)
	s, _ := o.(settler)
	if c, calm := o.(selectiveSettler); calm {
		settles = c.settles()
	} else if s != nil {
		settles = hears
	}
	for rest := uint64(hears); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		p.routes[k].hearing |= bit
		if settles.has(history.Kind(k)) {
			p.routes[k].settling |= bit
		}
	}
	p.observers, p.settlers = append(p.observers, o), append(p.settlers, s)
}

// Record takes the next event. Events must come in the order of time. Events of
// one instant may come in any order, with three exceptions, which are taken in the
// order in which they are recorded: calls of one kind that a client makes under one
// token, and their returns; changes that a node makes to the keys of one resource; and
// a grant that enters a hold again, before the release that leaves it.
func (p *Checker) Record(e *history.Event) {
	if p.byClient != nil {
		p.byClient.Record(e)
		if showsClientClock(e) {
			*p = *p.byClient
			return
		}
	}
	p.state.docket.event++
	if e.Kind == history.Step && !isTryStep(e.Name) {
		return
	}
	if p.state.docket.full {
		p.ended(e)
		return
	}
	if e.Time != p.now {
		p.pass(e.Time)
	}
	if p.atInstant++; p.atInstant > maxInstant {
		p.state.refuse("more than %d events at one instant, %s", maxInstant, at(e.Time))
		return
	}
	if single.has(e.Kind) {
		p.checkRepeated(e)
	}
	if !p.take(e, false) {
		p.wait(e)
	}
}

// take passes the event to its observers. It returns false if the event has to wait for
// another of its instant.
func (p *Checker) take(e *history.Event, force bool) bool {
	f := &p.fact
	*f = fact{Event: e}
	if !p.state.resolve(f, force) {
		return false
	}
	if noted.has(f.Kind) {
		p.faultLog.observe(f)
	}
	r := &p.routes[f.Kind%maxKinds]
	for rest := r.hearing; rest != 0; rest &= rest - 1 {
		p.observers[bits.TrailingZeros64(rest)].observe(f)
	}
	p.settling |= r.settling
	p.ended(e)
	return true
}

// ended records how the history ends.
func (p *Checker) ended(e *history.Event) {
	if e.Kind == history.End {
		p.cut = e.Reason
	}
}

// ends are the kinds of events that can be taken before what they wait for: see [state.about].
var ends = kindSet(history.Expiring, history.Lost, history.Lapse)

// wait puts an event aside until others of its instant have come.
func (p *Checker) wait(e *history.Event) {
	if len(p.late) < maxLate {
		p.late = append(p.late, late{*e, p.state.docket.event})
		return
	}
	if ends.has(e.Kind) && p.take(e, true) {
		return
	}
	p.state.refuse("more than %d events of one instant, %s, come before what they follow from", maxLate, at(e.Time))
}

// unsettled reports whether there is anything to do at the end of the instant. Usually there is
// nothing.
func (p *Checker) unsettled() bool {
	l := p.state
	return len(p.late)|len(p.told)|len(l.changes)|len(l.settling)|int(p.settling) != 0 || l.nextDeadline() <= p.now
}

// settle closes an instant.
func (p *Checker) settle() {
	if len(p.late) > 0 {
		p.takeLate()
	}
	p.lapses()
	p.told = p.told[:0]
	if len(p.state.changes) > 0 {
		p.state.settleKeys()
	}
	for rest := p.settling; rest != 0; rest &= rest - 1 {
		p.settlers[bits.TrailingZeros64(rest)].settle()
	}
	p.settling = 0
	if len(p.state.settling) > 0 || len(p.state.changes) > 0 {
		p.state.settle()
	}
}

// takeLate takes the events that waited for others of the instant. If none of them
// can be taken, calls go before returns.
func (p *Checker) takeLate() {
	defer func(event int) { p.state.docket.event = event }(p.state.docket.event)
	for len(p.late) > 0 {
		if p.takeFirstReady() {
			continue
		}
		next := max(0, slices.IndexFunc(p.late, func(v late) bool { return isCall(v.Kind) }))
		p.takeLateEvent(next, true)
	}
}

// takeFirstReady takes the first late event that need not wait any more, and reports whether there
// was one.
func (p *Checker) takeFirstReady() bool {
	for i := range p.late {
		if p.takeLateEvent(i, false) {
			return true
		}
	}
	return false
}

// takeLateEvent takes one of the late events and removes it from the list.
func (p *Checker) takeLateEvent(i int, force bool) bool {
	v := &p.late[i]
	p.state.docket.event = v.ordinal
	if !p.take(&v.Event, force) {
		return false
	}
	p.late = slices.Delete(p.late, i, i+1)
	return true
}

// Finish returns what was found. If the history has no end event, or its end event
// says that the run was cut short, every property that is not violated is unknown.
// The checker takes no events after Finish.
func (p *Checker) Finish() Report {
	p.settle()
	if d := p.state.docket; d.full && (p.cut == "" || p.cut == endless) {
		p.cut = fmt.Sprintf("too much to judge: event %d: %s", d.first.Event, d.first.What)
	}
	r := Report{Cut: p.cut, Untried: p.state.untried(), UntilClock: cmp.Or(p.state.header.UntilClock, history.FileClock)}
	for i, j := range p.checkers {
		f := j.finding(p.now)
		if i < p.silent() {
			continue
		}
		f.Property = p.asked[i-p.silent()]
		f.Faultless = f.Verdict == Violated && p.faultLog.none()
		if p.cut != "" && f.Verdict != Violated {
			f.Verdict, f.Undecided = Unknown, p.cut
			f.Where = &Place{From: p.now, To: p.now}
		}
		r.Findings = append(r.Findings, f)
	}
	for _, m := range p.meters {
		m.measure(&r.Measurements, p.now)
	}
	r.Measurements.Derive()
	return r
}
