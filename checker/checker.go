package checker

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Checker is all the judges of one history. It is a [history.Sink] and not safe
// for concurrent use.
type Checker struct {
	state    *state
	faultLog *faultLog
	asked    []Property // in the order of the judges, the last of which they are asked of
	judges   []propertyChecker
	meters   []meter

	observers []observer      // the judges, and then the meters
	settlers  []settler       // nil: it has nothing to do at the end of an instant
	routes    [maxKinds]route // by kind of event
	settling  uint64          // the settlers that are to settle at the end of this instant

	now history.Time

	atInstant int             // events of this instant
	cut       string          // why the history says nothing of what did not happen
	late      []late          // of this instant, which make no sense before others
	told      []history.Event // of this instant: see [single]
	fact      fact
}

// route is whom events of one kind concern, as bits.
type route struct {
	hearing  uint64 // the observers that are to hear of it
	settling uint64 // the settlers that are to settle after it
}

// late is an event that has to wait for others of its instant.
type late struct {
	history.Event
	ordinal int
}

// observer hears of the events of a history.
type observer interface {
	// hears lists the kinds of events that it observes.
	hears() kinds
	// observe takes an event, which has been entered into the ledger.
	observe(f *fact)
}

// settler is implemented by observers that have something to do at the end of an
// instant: events of one instant may come in any order.
type settler interface {
	observer
	// settle is called when all events of an instant have been observed, if there
	// was one.
	settle()
}

// calmer is implemented by settlers that not all that they hear gives something to do.
type calmer interface {
	settler
	// settles lists the kinds of events of which an instant has to have one, for it to
	// be settled.
	settles() kinds
}

// propertyChecker finds out about one property.
type propertyChecker interface {
	observer
	// finding is called once, after everything else. end is the instant of
	// the last event.
	finding(end history.Time) Finding
}

// New returns the judges of the history that begins with the header: of all
// properties, and with them whoever takes the measurements. If properties are named,
// they alone are judged and nothing is measured.
func New(h history.Header, only ...Property) *Checker {
	p := &Checker{cut: endless, state: newState(h), faultLog: &faultLog{}}
	most := len(properties) + len(meters)
	p.observers, p.settlers = make([]observer, 0, most), make([]settler, 0, most)
	for _, a := range properties {
		asked := len(only) == 0 || slices.Contains(only, a.property)
		if !asked && a.property != Lease { // it keeps the windows that others go by
			continue
		}
		j := a.judge(h, p.state, p.faultLog)
		p.listen(j)
		p.judges = append(p.judges, j)
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

// endless is why a history says nothing of what did not happen that has no end event.
const endless = "the history has no end"

// judgeOf returns the judge of a property, which must have been asked for.
func (p *Checker) judgeOf(asked Property) propertyChecker {
	i := slices.Index(p.asked, asked)
	if i < 0 {
		panic("checker: the panel was not asked for " + asked.String())
	}
	return p.judges[p.silent()+i]
}

// silent is how many judges, from the first, nobody asked for.
func (p *Checker) silent() int { return len(p.judges) - len(p.asked) }

// maxKinds is how many kinds of events there can be: see [kinds].
const maxKinds = 64

// listen lets an observer hear of what it wants to, after those before it.
func (p *Checker) listen(o observer) {
	bit := uint64(1) << len(p.observers)
	hears, settles := o.hears(), kinds(0)
	s, _ := o.(settler)
	if c, calm := o.(calmer); calm {
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

// Record takes the next event. Events come in the order of time. Those of one
// instant may come in any order, except that calls of one kind that a client
// makes under one token, and their returns, are taken in the order in which
// they are recorded, and so is what a node does to the keys of one resource, and a grant
// that enters a hold again before the release that leaves it.
func (p *Checker) Record(e *history.Event) {
	p.state.docket.event++
	if e.Kind == history.Step && !isTryStep(e.Name) {
		return
	}
	if p.state.docket.full {
		p.ended(e)
		return
	}
	if e.Time != p.now {
		if p.unsettled() {
			p.settle()
		}
		p.now, p.atInstant = e.Time, 0
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

// take lets the judges observe the event, if it makes sense by now.
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

// ended takes note of how the history ends.
func (p *Checker) ended(e *history.Event) {
	if e.Kind == history.End {
		p.cut = e.Reason
	}
}

// wait puts an event aside until others of its instant have come.
func (p *Checker) wait(e *history.Event) {
	if len(p.late) < maxLate {
		p.late = append(p.late, late{*e, p.state.docket.event})
		return
	}
	p.state.refuse("more than %d events of one instant, %s, come before what they follow from", maxLate, at(e.Time))
}

// unsettled reports whether there is anything to do at the end of the instant. After most
// there is not.
func (p *Checker) unsettled() bool {
	l := p.state
	return len(p.late)|len(p.told)|len(l.changes)|len(l.settling)|int(p.settling) != 0
}

// settle closes an instant.
func (p *Checker) settle() {
	if len(p.late) > 0 {
		p.takeLate()
	}
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

// takeLate takes the events that had to wait for others of the instant. If
// they wait in vain, calls are taken before returns.
func (p *Checker) takeLate() {
	defer func(event int) { p.state.docket.event = event }(p.state.docket.event)
	for len(p.late) > 0 {
		if p.takeReady() {
			continue
		}
		next := max(0, slices.IndexFunc(p.late, func(v late) bool { return isCall(v.Kind) }))
		p.takeThe(next, true)
	}
}

// takeReady takes the first late event that makes sense by now, if any does.
func (p *Checker) takeReady() bool {
	for i := range p.late {
		if p.takeThe(i, false) {
			return true
		}
	}
	return false
}

// takeThe takes one of the late events, and off their list.
func (p *Checker) takeThe(i int, force bool) bool {
	v := &p.late[i]
	p.state.docket.event = v.ordinal
	if !p.take(&v.Event, force) {
		return false
	}
	p.late = slices.Delete(p.late, i, i+1)
	return true
}

// Finish asks every judge for its finding. What a history does not violate
// that has no end event, or one that says that the run was cut short, is
// unknown. The panel takes no events after it.
func (p *Checker) Finish() Report {
	p.settle()
	if d := p.state.docket; d.full && (p.cut == "" || p.cut == endless) {
		p.cut = fmt.Sprintf("too much to judge: event %d: %s", d.first.Event, d.first.What)
	}
	r := Report{Cut: p.cut}
	for i, j := range p.judges {
		f := j.finding(p.now)
		if i < p.silent() {
			continue
		}
		f.Property = p.asked[i-p.silent()]
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
