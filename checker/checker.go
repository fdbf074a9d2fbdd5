// Package checker judges histories. A [Checker] reads a history one event at a
// time. It returns a verdict for every property of a lock, with the reasons, and
// measurements:
//
//	c := checker.New(header)
//	for i := range events {
//		c.Record(&events[i])
//	}
//	report := c.Finish()
//
// Simulated runs, runs on real servers and stored histories are judged by the
// same code. Memory grows with the number of holds that are live at a time, not
// with the length of the history.
//
// The checker knows no lock and no backend. It believes what the history says,
// with one exception in mind: a key on a node is never evidence that a client
// holds the lock. It reads no clock, except to give up a search for an order of
// sections that takes too long; effect exclusion is then unknown.
package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// Checker judges one history. It is a [history.Sink]. It is not safe for
// concurrent use.
type Checker struct {
	timeline *timeline.Timeline
	asked    []Property // the properties that are reported: those of the last checkers
	checkers []propertyChecker
	meters   []meter

	byClient *Checker // takes the same events with every until on its client's clock; nil: the clock is known

	cut string // why the history is incomplete; empty if it is complete
}

// shared is what is found for one property and is the cause of what another finds.
type shared struct {
	overlaps timeline.PerResource[[]*conflict] // the first overlaps of leases: see [maxOverlaps]
}

// propertyChecker judges one property.
type propertyChecker interface {
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
	p := Of(timeline.New(h), only...)
	if h.UntilClock == "" {
		h.UntilClock = history.ClientClock
		p.byClient = Of(timeline.New(h), only...)
	}
	return p
}

// Of returns a checker of the history that a timeline follows. The timeline must have no other checker, and
// have taken no event. If its header does not name the clock of until, that of the events' times is taken.
func Of(t *timeline.Timeline, only ...Property) *Checker {
	p, common := &Checker{cut: endless, timeline: t}, &shared{}
	p.checkers, p.asked = make([]propertyChecker, 0, len(properties)), make([]Property, 0, len(properties))
	for _, a := range properties {
		asked := len(only) == 0 || slices.Contains(only, a.property)
		if !asked && !(a.property == Lease && slices.Contains(only, Effect)) { // its overlaps are causes of lost updates
			continue
		}
		j := a.newChecker(p.timeline, common)
		p.listen(j)
		p.checkers = append(p.checkers, j)
		if asked {
			p.asked = append(p.asked, a.property)
		}
	}
	if len(only) > 0 {
		return p
	}
	d := &demand{}
	p.meters = make([]meter, 0, len(meters))
	for _, newMeter := range meters {
		m := newMeter(p.timeline, d)
		p.meters = append(p.meters, m)
		p.timeline.Listen(m)
	}
	return p
}

// listen adds a property's checker to the observers of the timeline.
func (p *Checker) listen(j propertyChecker) {
	if x, is := j.(*exclusion); is {
		p.timeline.ListenToWindows(x.kind, x)
	} else {
		p.timeline.Listen(j.(timeline.Observer))
	}
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
	p.timeline.Record(e)
	if e.Kind == history.End {
		p.cut = e.Reason
	}
}

// Finish returns what was found. If the history has no end event, or its end event
// says that the run was cut short, every property that is not violated is unknown.
// The checker takes no events after Finish.
func (p *Checker) Finish() Report {
	p.timeline.Close()
	if first := p.timeline.Contradiction(); p.timeline.Full() && (p.cut == "" || p.cut == endless) {
		p.cut = fmt.Sprintf("too much to judge: event %d: %s", first.Event, first.What)
	}
	r := Report{Cut: p.cut, Untried: p.timeline.Faults.Untried(), UntilClock: cmp.Or(p.timeline.Header.UntilClock, history.FileClock)}
	for i, j := range p.checkers {
		f := j.finding(p.timeline.Now)
		if i < p.silent() {
			continue
		}
		f.Property = p.asked[i-p.silent()]
		f.Faultless = f.Verdict == Violated && p.timeline.Faults.None()
		if p.cut != "" && f.Verdict != Violated {
			f.Verdict, f.Undecided = Unknown, p.cut
			f.Where = &Place{From: p.timeline.Now, To: p.timeline.Now}
		}
		r.Findings = append(r.Findings, f)
	}
	for _, m := range p.meters {
		m.measure(&r.Measurements, p.timeline.Now)
	}
	r.Measurements.Derive()
	return r
}

// byOneClock settles a history whose header does not name the clock of until for that of the events'
// times, because what happens is reported before the events show another. [Report.UntilClock] has the
// clock of a history that was judged before.
func (p *Checker) byOneClock() { p.byClient = nil }

// showsClientClock reports whether the event shows that until is on the clients' own clocks, of a
// history whose header does not name the clock.
func showsClientClock(e *history.Event) bool {
	return e.Kind == history.Lapse || e.Kind == history.FaultStart && e.Client != 0
}

// Contradiction is an event that cannot have happened after those before it. A history with
// one describes no run. The error text names the client and the token.
type Contradiction struct {
	Event int    // its number, from 1; in a file it is on the next line
	What  string // what it says, and why that cannot be

	// TooMuch: the event is possible, but more is under way at a time than the checker
	// judges. It ignores what follows; properties not violated so far are unknown.
	TooMuch bool
}

func (c *Contradiction) Error() string { return c.What }

// Err returns the first contradiction of the history, as a *[Contradiction], or nil. About
// the last instant Err is certain only after Finish.
//
// The checker goes on after a contradiction and judges what is left.
func (p *Checker) Err() error {
	if first := p.timeline.Contradiction(); first != nil {
		c := Contradiction(*first)
		return &c
	}
	return nil
}
