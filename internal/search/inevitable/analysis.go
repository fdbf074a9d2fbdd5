package inevitable

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Options bound an analysis.
type Options struct {
	// Futures is the number of futures of an event, at least 1.
	Futures int

	// Runs is the number of futures in all at which no further event is looked at, at least 1.
	Runs int

	// Messages is the number of messages of the but-for test, the last ones before the violation;
	// 0: it is left out.
	Messages int
}

// The defaults.
const (
	DefaultFutures  = 100
	DefaultRuns     = 10_000
	DefaultMessages = 200
)

// Analysis is how a violation became inevitable.
type Analysis struct {
	Property checker.Property `json:"property"`
	Points   []Point          `json:"points"`             // in the order of the events
	Jumps    []Jump           `json:"jumps"`              // the largest first
	ButFor   []ButFor         `json:"but_for,omitempty"`  // in the order of the plan
	Messages []LateMessage    `json:"messages,omitempty"` // that make a difference, the largest first
	Others   int              `json:"other_messages"`     // that were tried and make none
	Runs     int              `json:"runs"`               // that were made
	Stopped  bool             `json:"stopped,omitempty"`  // before the end

	// Agreement compares the largest jump with the cause that the checker names.
	Agreement Agreement `json:"agreement"`
}

// Point is the probability of the violation after an event of the run. The first point is before
// all events.
type Point struct {
	Event    int             `json:"event"` // of the world, as in a [runner.Branch]
	Time     history.Time    `json:"t"`
	What     []history.Event `json:"-"`
	Violated runner.Rate     `json:"violated"` // futures that violate the property, of all
}

// Jump is a rise of the probability between two points.
type Jump struct {
	Before Point `json:"before"`
	After  Point `json:"after"`

	// Between is the number of events of the history between the two that were not looked at.
	Between int `json:"between,omitempty"`
}

// Size returns the rise, from -1 to 1.
func (j Jump) Size() float64 { return j.After.Violated.Share() - j.Before.Violated.Share() }

// certain reports whether chance alone makes such a rise in less than one of twenty cases: the
// intervals of the two points are compared by Newcombe's method (Interval Estimation for the
// Difference between Independent Proportions, Statistics in Medicine 17, 1998, method 10).
func (j Jump) certain() bool {
	a, b := j.Before.Violated, j.After.Violated
	_, highA := a.Wilson()
	lowB, _ := b.Wilson()
	return j.Size()-math.Hypot(b.Share()-lowB, highA-a.Share()) > 0
}

// Analyse finds where the violation of a property in a run became inevitable. s is the scenario with
// the plan that was carried out. progress is called after each point; it may be nil. When ctx ends,
// the analysis has what is known.
func Analyse(ctx context.Context, b runner.Backend, s scenarios.Scenario, seed uint64, course runner.Course, p checker.Property, o Options, progress func(Analysis)) (Analysis, error) {
	if !b.Drivable {
		return Analysis{}, fmt.Errorf("runs on the %s backend cannot branch", b.Name)
	}
	if len(s.Plan) > mostFaults {
		return Analysis{}, fmt.Errorf("the plan has %d faults: want at most %d", len(s.Plan), mostFaults)
	}
	e, err := runner.Prepare(b, s)
	if err != nil {
		return Analysis{}, err
	}
	run, err := read(ctx, e, seed, course, p)
	switch {
	case err != nil:
		return Analysis{}, err
	case run.finding.Verdict != checker.Violated:
		return Analysis{}, fmt.Errorf("the run does not violate %s: it is %v", p, run.finding.Verdict)
	}
	f := &futures{
		backend: b, scenario: s, seed: seed, course: course, property: p,
		experiments: map[uint64]runner.Experiment{},
	}
	c := &curve{past: run, futures: f, options: o, known: map[int]Point{}, progress: progress}
	c.property = p
	if err := c.trace(ctx); err != nil {
		return Analysis{}, err
	}
	a := c.analysis()
	a.ButFor, err = f.butFor(ctx, run, o.Futures)
	a.Runs += 2 * len(a.ButFor) * o.Futures
	if err == nil && o.Messages > 0 {
		err = f.butForMessages(ctx, run, o.Messages, &a)
	}
	a.Stopped = ctx.Err() != nil
	return a, err
}

// curve is the probability over the time of a run, as far as it is known.
type curve struct {
	*past
	futures  *futures
	options  Options
	property checker.Property
	progress func(Analysis)

	known map[int]Point // by the number of the moment; -1 is before all
	runs  int
}

// coarse is the number of moments, evenly spaced, that are looked at first.
const coarse = 12

// small is the difference of two probabilities up to which nothing between them is looked at.
const small = 0.1

// trace looks at the moments at which faults begin and locks are granted, and at some evenly spaced
// ones. Then it halves the interval with the largest difference again and again.
func (c *curve) trace(ctx context.Context) error {
	first := []int{-1, len(c.moments) - 1}
	for i, m := range c.moments {
		if slices.ContainsFunc(m.events, decides) && len(first) < 2*coarse {
			first = append(first, i-1, i)
		}
	}
	for i := range coarse {
		first = append(first, i*len(c.moments)/coarse)
	}
	for _, i := range first {
		if err := c.look(ctx, i); err != nil {
			return err
		}
	}
	for ctx.Err() == nil && c.runs < c.options.Runs {
		middle, found := c.widest()
		if !found {
			return nil
		}
		if err := c.look(ctx, middle); err != nil {
			return err
		}
	}
	return nil
}

// decides reports whether an event is one that often decides.
func decides(e history.Event) bool { return e.Kind == history.FaultStart || e.Kind == history.Granted }

// look finds the probability after a moment.
func (c *curve) look(ctx context.Context, i int) error {
	if _, done := c.known[i]; done || ctx.Err() != nil || c.runs >= c.options.Runs {
		return nil
	}
	var p Point
	var begun uint64
	if i >= 0 {
		m := c.moments[i]
		p, begun = Point{Event: m.event, Time: m.time, What: m.events}, m.begun
	}
	rate, err := count(ctx, c.options.Futures, func(ctx context.Context, number uint64) (bool, error) {
		return c.futures.violates(ctx, p.Event, begun, number)
	})
	if err != nil || rate.N == 0 {
		return err
	}
	p.Violated = rate
	c.known[i], c.runs = p, c.runs+rate.N
	if c.progress != nil {
		c.progress(c.analysis())
	}
	return nil
}

// widest returns the moment in the middle of the interval with the largest difference, if one is
// large enough.
func (c *curve) widest() (middle int, found bool) {
	order, best := c.order(), small
	for n := range len(order) - 1 {
		from, to := order[n], order[n+1]
		if by := math.Abs(c.known[to].Violated.Share() - c.known[from].Violated.Share()); to-from > 1 && by > best {
			middle, found, best = (from+to)/2, true, by
		}
	}
	return middle, found
}

// order returns the moments that were looked at, in their order.
func (c *curve) order() []int {
	var all []int
	for i := range c.known {
		all = append(all, i)
	}
	slices.Sort(all)
	return all
}

// analysis returns the points and jumps that are known.
func (c *curve) analysis() Analysis {
	a := Analysis{Property: c.property, Runs: c.runs}
	order := c.order()
	for n, i := range order {
		a.Points = append(a.Points, c.known[i])
		if n == 0 {
			continue
		}
		j := Jump{Before: c.known[order[n-1]], After: c.known[i], Between: i - order[n-1] - 1}
		if j.certain() {
			a.Jumps = append(a.Jumps, j)
		}
	}
	slices.SortStableFunc(a.Jumps, func(x, y Jump) int { return cmp.Compare(y.Size(), x.Size()) })
	a.Agreement = c.agreement(a.Jumps)
	return a
}
