package inevitable

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
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

// Analyse finds where the violation of a property in a run became inevitable. s is the scenario with
// the plan that was carried out. progress is called after each point; it may be nil. When ctx ends,
// the analysis has what is known.
func Analyse(ctx context.Context, b runner.Backend, s scenarios.Scenario, seed uint64, course runner.Course, p checker.Property, o Options, progress func(Analysis)) (Analysis, error) {
	if !b.Drivable {
		return Analysis{}, fmt.Errorf("runs on the %s backend cannot branch", b.Name)
	}
	s.Plan = s.World().Plan // each fault by itself
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
	c := &curve{past: run, futures: f, each: o.Futures, most: o.Runs, known: map[int]Point{}}
	if progress != nil {
		c.progress = func() { progress(c.analysis()) }
	}
	if err := c.trace(ctx); err != nil {
		return Analysis{}, err
	}
	a := c.analysis()
	a.ButFor, err = f.butFor(ctx, run, o.Futures)
	a.Runs += 2 * len(a.ButFor) * o.Futures
	if err == nil && o.Messages > 0 {
		var tried int
		a.Messages, a.Others, tried, err = f.butForMessages(ctx, run, o.Messages)
		a.Runs += tried
	}
	a.Stopped = ctx.Err() != nil
	return a, err
}

// analysis returns the points and jumps that are known.
func (c *curve) analysis() Analysis {
	a := Analysis{Property: c.futures.property, Runs: c.runs}
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
