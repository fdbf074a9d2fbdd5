package checker

import (
	"math/bits"

	"github.com/lockstorm/lockstorm/history"
)

// Panel is all the judges of one history. It is a [history.Sink] and not safe
// for concurrent use.
type Panel struct {
	ledger  *ledger
	notes   *notes
	judges  []judge
	measure *measures

	hearing [1 << 8]uint32 // by kind of event: the judges that are to hear of it, as bits
	heard   uint32         // those that have heard of something in this instant

	now  history.Time
	cut  string          // why the history says nothing of what did not happen
	late []history.Event // of this instant, which make no sense before others
	fact fact
}

// judge finds out about one property.
type judge interface {
	// hears lists the kinds of events that the judge observes.
	hears() kinds
	// observe takes an event, which has been entered into the ledger.
	observe(f *fact)
	// settle is called when all events of an instant have been observed, if
	// there was one.
	settle()
	// finding is called once, after everything else. end is the instant of
	// the last event.
	finding(end history.Time) Finding
}

// NewPanel returns the judges of the history that begins with the header.
func NewPanel(h history.Header) *Panel {
	l, n := newLedger(h), &notes{}
	p := &Panel{
		cut:     "the history has no end",
		ledger:  l,
		notes:   n,
		measure: newMeasures(h, l),
		judges: []judge{
			newExclusion(leaseRule, l, n),
			newExclusion(sectionRule, l, n),
			newEffect(l, n),
			newTolerance(h, l, n),
			newContract(h, l, n),
			&fences{ledger: l, notes: n},
			newCleanup(h, l, n), // after contract, which keeps the keys
			newProgress(h, l, n),
		},
	}
	for i, j := range p.judges {
		for rest := uint64(j.hears()); rest != 0; rest &= rest - 1 {
			p.hearing[bits.TrailingZeros64(rest)] |= 1 << i
		}
	}
	return p
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
	hearing := p.hearing[e.Kind]
	for rest := hearing; rest != 0; rest &= rest - 1 {
		p.judges[bits.TrailingZeros32(rest)].observe(f)
	}
	p.heard |= hearing
	p.measure.observe(f)
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
	for rest := p.heard; rest != 0; rest &= rest - 1 {
		p.judges[bits.TrailingZeros32(rest)].settle()
	}
	p.heard = 0
	p.measure.settle()
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
	r := Report{Findings: make([]Finding, len(p.judges)), Cut: p.cut}
	for _, j := range p.judges {
		f := j.finding(p.now)
		if p.cut != "" && f.Verdict != Violated {
			f.Verdict, f.Story = Unknown, p.cut+"; up to there: "+f.Story
		}
		r.Findings[f.Property-1] = f
	}
	r.Measurements = p.measure.result(p.now)
	return r
}
