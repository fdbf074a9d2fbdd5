package checker

import (
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Panel is all the judges of one history. It is a [history.Sink] and not safe
// for concurrent use.
type Panel struct {
	ledger *ledger
	notes  *notes
	asked  []Property // in the order of the judges
	judges []judge
	meters []meter

	observers []observer       // the judges, and then the meters
	settlers  []settler        // nil: it has nothing to do at the end of an instant
	hearing   [maxKinds]uint64 // by kind of event: the observers that are to hear of it, as bits
	settling  uint64           // the settlers among the observers
	heard     uint64           // those that have heard of something in this instant

	now  history.Time
	cut  string          // why the history says nothing of what did not happen
	late []history.Event // of this instant, which make no sense before others
	fact fact
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
	// settle is called when all events of an instant have been observed, if
	// there was one.
	settle()
}

// judge finds out about one property.
type judge interface {
	observer
	// finding is called once, after everything else. end is the instant of
	// the last event.
	finding(end history.Time) Finding
}

// NewPanel returns the judges of the history that begins with the header: of all
// properties, and with them whoever takes the measurements. If properties are named,
// they alone are judged and nothing is measured.
func NewPanel(h history.Header, only ...Property) *Panel {
	p := &Panel{cut: "the history has no end", ledger: newLedger(h), notes: &notes{}}
	most := len(properties) + len(meters)
	p.observers, p.settlers = make([]observer, 0, most), make([]settler, 0, most)
	for _, a := range properties {
		if len(only) > 0 && !slices.Contains(only, a.property) {
			continue
		}
		j := a.judge(h, p.ledger, p.notes)
		p.asked, p.judges = append(p.asked, a.property), append(p.judges, j)
		p.listen(j)
	}
	if len(only) > 0 {
		return p
	}
	for _, newMeter := range meters {
		m := newMeter(h, p.ledger)
		p.meters = append(p.meters, m)
		p.listen(m)
	}
	return p
}

// maxKinds is how many kinds of events there can be: see [kinds].
const maxKinds = 64

// listen lets an observer hear of what it wants to, after those before it.
func (p *Panel) listen(o observer) {
	bit := uint64(1) << len(p.observers)
	for rest := uint64(o.hears()); rest != 0; rest &= rest - 1 {
		p.hearing[bits.TrailingZeros64(rest)] |= bit
	}
	s, settles := o.(settler)
	if settles {
		p.settling |= bit
	}
	p.observers, p.settlers = append(p.observers, o), append(p.settlers, s)
}

// Record takes the next event. Events come in the order of time. Those of one
// instant may come in any order, except that calls of one kind that a client
// makes under one token, and their returns, are taken in the order in which
// they are recorded.
func (p *Panel) Record(e *history.Event) {
	if e.Kind == history.Step && !isHeard(e.Name) {
		return
	}
	if e.Time != p.now {
		p.settle()
		p.now = e.Time
	}
	if !p.take(e, false) {
		p.late = append(p.late, *e)
	}
}

// take lets the judges observe the event, if it makes sense by now.
func (p *Panel) take(e *history.Event, force bool) bool {
	f := &p.fact
	*f = fact{Event: e}
	if !p.ledger.resolve(f, force) {
		return false
	}
	p.notes.observe(f)
	hearing := p.hearing[e.Kind%maxKinds]
	for rest := hearing; rest != 0; rest &= rest - 1 {
		p.observers[bits.TrailingZeros64(rest)].observe(f)
	}
	p.heard |= hearing & p.settling
	if e.Kind == history.End {
		p.cut = e.Reason
	}
	return true
}

// settle closes an instant.
func (p *Panel) settle() {
	if len(p.late) > 0 {
		p.takeLate()
	}
	p.ledger.settleKeys()
	for rest := p.heard; rest != 0; rest &= rest - 1 {
		p.settlers[bits.TrailingZeros64(rest)].settle()
	}
	p.heard = 0
	p.ledger.settle()
}

// takeLate takes the events that had to wait for others of the instant. If
// they wait in vain, calls are taken before returns.
func (p *Panel) takeLate() {
	for len(p.late) > 0 {
		if p.takeReady() {
			continue
		}
		next := 0
		for i := range p.late {
			if isCall(p.late[i].Kind) {
				next = i
				break
			}
		}
		p.take(&p.late[next], true)
		p.late = append(p.late[:next], p.late[next+1:]...)
	}
}

// takeReady takes the first late event that makes sense by now, if any does.
func (p *Panel) takeReady() bool {
	for i := range p.late {
		if p.take(&p.late[i], false) {
			p.late = append(p.late[:i], p.late[i+1:]...)
			return true
		}
	}
	return false
}

// Finish asks every judge for its finding. What a history does not violate
// that has no end event, or one that says that the run was cut short, is
// unknown. The panel takes no events after it.
func (p *Panel) Finish() Report {
	p.settle()
	r := Report{Cut: p.cut}
	for i, j := range p.judges {
		f := j.finding(p.now)
		f.Property = p.asked[i]
		if p.cut != "" && f.Verdict != Violated {
			f.Verdict, f.Story = Unknown, p.cut+"; up to there: "+f.Story
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
