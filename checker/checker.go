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
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Checker judges one history. It is a [history.Sink]. It is not safe for
// concurrent use.
type Checker struct {
	timeline *timeline.Timeline
	asked    []Property
	checkers []propertyChecker // of the properties that are asked for
	meters   []meter

	byClient *Checker // takes the same events with every until on its client's clock; nil: the clock is known

	cut string // why the history is incomplete; empty if it is complete
}

// New returns a checker of the history that begins with the header. It judges all
// properties and measures. If properties are named, it judges these alone and
// measures nothing.
//
// If the header does not name the clock of until, the events show it. Until they do, the checker
// judges the history by either clock.
func New(h history.Header, only ...Property) *Checker {
	c := Of(timeline.New(h), only...)
	if h.UntilClock == "" {
		h.UntilClock = history.ClientClock
		c.byClient = Of(timeline.New(h), only...)
	}
	return c
}

// Of returns a checker of the history that a timeline follows. The timeline must have no other checker, and
// have taken no event. If its header does not name the clock of until, that of the events' times is taken.
func Of(t *timeline.Timeline, only ...Property) *Checker {
	c, common := &Checker{cut: endless, timeline: t}, &shared{}
	c.checkers, c.asked = make([]propertyChecker, 0, len(properties)), make([]Property, 0, len(properties))
	for _, a := range properties {
		asked := len(only) == 0 || slices.Contains(only, a.property)
		if !asked && !slices.ContainsFunc(only, a.property.explains) {
			continue
		}
		j := a.newChecker(c.timeline, common)
		c.listen(j)
		if asked {
			c.asked, c.checkers = append(c.asked, a.property), append(c.checkers, j)
		}
	}
	if len(only) > 0 {
		return c
	}
	d := &demand{shared: common}
	c.meters = make([]meter, 0, len(meters))
	for _, newMeter := range meters {
		m := newMeter(c.timeline, d)
		c.meters = append(c.meters, m)
		c.timeline.Listen(m)
	}
	return c
}

// listen adds a property's checker to the observers of the timeline.
func (c *Checker) listen(j propertyChecker) {
	if x, is := j.(*exclusion); is {
		c.timeline.ListenToWindows(x.kind, x)
	} else {
		c.timeline.Listen(j.(timeline.Observer))
	}
}

// endless is why a history without an end event is incomplete.
const endless = "the history has no end"

// checkerOf returns the checker of a property that New was asked for. It panics for others.
func (c *Checker) checkerOf(asked Property) propertyChecker {
	i := slices.Index(c.asked, asked)
	if i < 0 {
		panic("checker: New was not asked for " + asked.String())
	}
	return c.checkers[i]
}

// allCheckers are those of the properties, by either clock.
func (c *Checker) allCheckers() []propertyChecker {
	if c.byClient == nil {
		return c.checkers
	}
	return slices.Concat(c.checkers, c.byClient.checkers)
}

// Record takes the next event. Events must come in the order of time. Events of
// one instant may come in any order, with three exceptions, which are taken in the
// order in which they are recorded: calls of one kind that a client makes under one
// token, and their returns; changes that a node makes to the keys of one resource; and
// a grant that enters a hold again, before the release that leaves it.
func (c *Checker) Record(e *history.Event) {
	if c.byClient != nil {
		c.byClient.Record(e)
		if showsClientClock(e) {
			*c = *c.byClient
			return
		}
	}
	c.timeline.Record(e)
	if e.Kind == history.End {
		c.cut = e.Reason
	}
}

// Finish returns what was found. If the history has no end event, or its end event
// says that the run was cut short, every property that is not violated is unknown.
// The checker takes no events after Finish.
func (c *Checker) Finish() Report {
	c.timeline.Close()
	if first := c.timeline.Contradiction(); c.timeline.Full() && (c.cut == "" || c.cut == endless) {
		c.cut = fmt.Sprintf("too much to judge: event %d: %s", first.Event, first.What)
	}
	r := Report{Cut: c.cut, Untried: c.timeline.Faults.Untried(), UntilClock: cmp.Or(c.timeline.Header.UntilClock, history.FileClock)}
	r.Findings = make([]Finding, 0, len(c.checkers))
	for i, j := range c.checkers {
		f := j.finding(c.timeline.Now)
		f.Property = c.asked[i]
		f.Faultless = f.Verdict == Violated && c.timeline.Faults.None()
		if c.cut != "" && f.Verdict != Violated {
			f.Verdict, f.Undecided = Unknown, c.cut
			f.Where = &Place{From: c.timeline.Now, To: c.timeline.Now}
		}
		r.Findings = append(r.Findings, f)
	}
	for _, m := range c.meters {
		m.measure(&r.Measurements, c.timeline.Now)
	}
	r.Measurements.Derive()
	return r
}

// byOneClock settles a history whose header does not name the clock of until for that of the events'
// times, because what happens is reported before the events show another. [Report.UntilClock] has the
// clock of a history that was judged before.
func (c *Checker) byOneClock() { c.byClient = nil }

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
func (c *Checker) Err() error {
	if first := c.timeline.Contradiction(); first != nil {
		contradiction := Contradiction(*first)
		return &contradiction
	}
	return nil
}

// SetSearchLimit bounds the search for an order of overlapping sections, in real time. If a search
// takes longer, the verdict is unknown. The default is 2 s; 0 means no limit. Each search that
// gives up halves the limit, so that all searches together take at most twice the limit. Call it
// before the first event.
func (c *Checker) SetSearchLimit(limit time.Duration) {
	for _, j := range c.allCheckers() {
		if e, ok := j.(*effect); ok {
			e.orders.limit = limit
		}
	}
}

// Accesses calls each for every access when its outcome is known, or is known to stay
// unknown, at the latest in Finish. It panics if New was not asked for effect exclusion. Call
// it before the first event.
func (c *Checker) Accesses(each func(Access)) {
	c.byOneClock()
	c.checkerOf(Effect).(*effect).each = each
}

// Demand calls waits for every series of tries and outages for every outage when it ends; Finish
// ends those in progress. Call it before the first event. A checker of selected properties then
// takes these two measurements and no others.
func (c *Checker) Demand(waits func(Wait), outages func(Outage)) {
	c.byOneClock()
	if len(c.meters) == 0 {
		d := &demand{}
		for _, newMeter := range []func(*timeline.Timeline, *demand) meter{newWaitMeter, newOutageMeter} {
			m := newMeter(c.timeline, d)
			c.meters = append(c.meters, m)
			c.timeline.Listen(m)
		}
	}
	for _, m := range c.meters {
		switch m := m.(type) {
		case *waitMeter:
			m.each = waits
		case *outageMeter:
			m.each = outages
		}
	}
}

// Report is all that a [Checker] finds in one history.
type Report struct {
	Findings     []Finding    `json:"findings"` // one for each property that New was asked for, in the order of [Properties]
	Measurements Measurements `json:"measurements"`

	// Cut is why the history is incomplete, so that every property that is not
	// violated is unknown; empty if the history is complete.
	Cut string `json:"cut,omitempty"`

	// Untried lists the numbers of the faults after which no client began a try to acquire, or was granted
	// a lock, in order: also those that went on when the history ended.
	Untried []int `json:"-"`

	// UntilClock is the clock by which the history was judged: that of its header or, if it names none,
	// that which the events show.
	UntilClock history.UntilClock `json:"-"`
}

// Finding returns what was found about a property.
func (r Report) Finding(p Property) Finding {
	for _, f := range r.Findings {
		if f.Property == p {
			return f
		}
	}
	return Finding{Property: p, Verdict: Unknown, Undecided: "it was not judged"}
}

// Verdicts returns the verdict of every property.
func (r Report) Verdicts() Verdicts {
	v := make(Verdicts, len(r.Findings))
	for _, f := range r.Findings {
		v[f.Property] = f.Verdict
	}
	return v
}

// Verdicts are the verdicts of one history, found or expected. In files they are a
// mapping of names to names, in JSON in the order of [Properties].
type Verdicts map[Property]Verdict

// MarshalJSON writes an object in the order of the properties.
func (v Verdicts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	written := 0
	for _, p := range Properties() {
		verdict, ok := v[p]
		if !ok {
			continue
		}
		if written > 0 {
			b.WriteByte(',')
		}
		written++
		value, err := json.Marshal(verdict)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", p, value)
	}
	if written < len(v) {
		return nil, fmt.Errorf("checker: a verdict of a property that there is not")
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
