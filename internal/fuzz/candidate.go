package fuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Candidate is one run that can be made: a scenario whose plan says all that goes
// wrong, and the seed of the rest.
type Candidate struct {
	Scenario scenarios.Scenario
	Seed     uint64
}

// Run makes the run. The history goes to keep as well, unless that is nil.
func (c Candidate) Run(ctx context.Context, b runner.Backend, keep history.Sink) (runner.Result, error) {
	return runner.Run(ctx, b, c.Scenario, c.Seed, keep)
}

// controls is how many control runs are made, beside the one with the candidate's seed.
// Without a pause all that is drawn falls out otherwise, and what does not happen then
// may do so by luck alone.
const controls = 3

// Due returns those of some properties, all of which the candidate violates, whose
// violation is due to its faults of some kinds; none: to its plan. It makes control runs
// without these faults, with the same seed and some others: what is violated there as
// well is due to something else, such as clients that work for longer than their leases.
// When ctx ends that is its error.
func (c Candidate) Due(ctx context.Context, b runner.Backend, kinds []nemesis.Kind, violated []checker.Property) (due []checker.Property, err error) {
	control := c.without(kinds)
	if len(control.Scenario.Plan) == len(c.Scenario.Plan) { // it would be the same run
		return nil, nil
	}
	due = slices.Clone(violated)
	for n := uint64(0); n <= controls && len(due) > 0; n++ {
		if n > 0 {
			control.Seed = n
		}
		r, err := control.within(ctx, b)
		switch {
		case err != nil:
			return nil, err
		case r.Interrupted:
			return nil, ctx.Err()
		}
		due = slices.DeleteFunc(due, func(p checker.Property) bool { return r.Report.Finding(p).Verdict == checker.Violated })
	}
	return due, nil
}

// within makes the run with the bound on events of all runs of a hunt.
func (c Candidate) within(ctx context.Context, b runner.Backend) (runner.Result, error) {
	e, err := runner.Prepare(b, c.Scenario)
	if err != nil {
		return runner.Result{}, err
	}
	return e.Within(mostEvents).Run(ctx, c.Seed, nil)
}

// without is the candidate without its faults of some kinds; none: without its plan.
func (c Candidate) without(kinds []nemesis.Kind) Candidate {
	c.Scenario.Plan = slices.DeleteFunc(slices.Clone(c.Scenario.Plan), func(f nemesis.Fault) bool {
		return len(kinds) == 0 || slices.Contains(kinds, f.Action.Kind())
	})
	return c
}

// candidate makes the candidate of a number, and what runs it: a change of its parent,
// if it has one and some change is possible, or else one that is drawn anew.
func (h Hunt) candidate(number int, parent *Candidate) (Candidate, runner.Experiment, error) {
	random := rand.New(nemesis.Stream(h.Seed, fmt.Sprintf("hunt %d", number)))
	if parent != nil {
		if c, e, ok := h.change(*parent, random); ok {
			return c, e, nil
		}
	}
	c, err := h.draw(random)
	if err != nil {
		return c, runner.Experiment{}, err
	}
	e, err := runner.Prepare(h.Backend, c.Scenario)
	return c, e, err
}

// draw draws a candidate.
func (h Hunt) draw(random *rand.Rand) (Candidate, error) {
	s, g, err := h.place(random)
	if err != nil {
		return Candidate{}, err
	}
	seed := random.Uint64() >> 32
	a, promised := h.assumed(s, random)
	admits := func(f nemesis.Fault) bool { return !promised || a.Admits(f, s) }
	s.Plan = h.plan(g, s, admits, random)
	if promised {
		s = a.Keep(s) // faults can be outside together
	}
	return Candidate{h.promisedOnly(s), seed}, nil
}

// mostPlaces is how many scenarios are drawn until one has room for some kind of fault.
const mostPlaces = 100

// place draws a scenario in which some of the faults are possible that may be drawn.
func (h Hunt) place(random *rand.Rand) (s scenarios.Scenario, g nemesis.Generator, err error) {
	for range mostPlaces {
		s = h.Ground.Draw(random)
		if g, err = h.generator(s); err == nil {
			return s, g, nil
		}
	}
	return s, g, err
}

// generator returns what draws the faults of a scenario: of the kinds that are asked
// for, those for which there is room in its world. On a ground whose worlds differ it is
// no mistake to name others.
func (h Hunt) generator(s scenarios.Scenario) (nemesis.Generator, error) {
	world, able := s.World(), h.Backend.Ability
	return nemesis.Generator{Faults: h.Faults.Among(world, able), Most: h.Most}.Only(world, able)
}

// Validate returns an error if the hunt finds no room for the faults that it is to draw.
func (h Hunt) Validate() error {
	_, _, err := h.place(rand.New(nemesis.Stream(h.Seed, "place")))
	return err
}

// assumed draws the assumptions that the plan of a scenario keeps to: those of one of
// the properties that are wanted and promised.
func (h Hunt) assumed(s scenarios.Scenario, random *rand.Rand) (Assumptions, bool) {
	terms := h.Terms(s)
	var promised []checker.Property
	for _, p := range checker.Properties() {
		if _, ok := terms[p]; ok && h.wants(p) {
			promised = append(promised, p)
		}
	}
	if len(promised) == 0 {
		return Assumptions{}, false
	}
	return terms[promised[random.IntN(len(promised))]], true
}

// dice draw what a ground is made of. They draw integers alone, so that a hunt is the
// same on every machine.
type dice struct{ *rand.Rand }

// chance draws true in so many of a hundred cases.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// one draws one of a list; who stands in it twice is drawn twice as often.
func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// between draws a duration, in whole microseconds so that it is easy to read.
func (d dice) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return (lo + time.Duration(d.Int64N(int64(hi-lo)+1))).Truncate(time.Microsecond)
}

// upTo is a range from nothing.
func upTo(d time.Duration) nemesis.Range { return nemesis.Range{Max: d} }

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// within is any range between two ends, now and then a single value.
func (d dice) within(lo, hi time.Duration) nemesis.Range {
	a, b := d.between(lo, hi), d.between(lo, hi)
	if d.chance(25) {
		b = a
	}
	return nemesis.Range{Min: min(a, b), Max: max(a, b)}
}
