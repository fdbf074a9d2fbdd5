package hunt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Hunt searches for runs that break a promise.
//
// Each run is drawn from Seed and its number alone. So a hunt makes the same runs on any number of
// cores, and parts of a hunt can be made in any order and anywhere: see Before.
type Hunt struct {
	Backend runner.Backend
	Space   SearchSpace

	// Terms says which properties are promised for a scenario, and under which assumptions.
	Terms func(scenarios.Scenario) promises.Terms

	// Wanted are the properties whose violations are searched. Empty means all. Each run is aimed at
	// one of them, so that most runs can violate it (aim.go).
	Wanted []checker.Property

	// Faults are the weights of the kinds of faults.
	Faults nemesis.Weights
	// MaxFaults is the largest number of faults of a plan.
	MaxFaults int

	// Seed determines the hunt.
	Seed uint64

	// Before is the number of runs to skip: the first run has the number Before+1.
	Before int

	// Runs is how many runs are made at most; 0: Each says when the hunt ends.
	Runs int

	// Watched is called with the experiment of the run with a number, and returns the one to run, such as
	// one that is watched; nil: as it is. Several runs are prepared at a time.
	Watched func(number int, e runner.Experiment) runner.Experiment

	// SideBySide is how many runs are made at a time; 0: one per core.
	SideBySide int

	// Each is called for every run, in order, on the caller's goroutine. If it returns false
	// the hunt ends.
	Each func(Run) bool
}

// Run hunts until ctx ends, which is no error, Each returns false, or all runs are made.
func (h Hunt) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := runner.InOrder(ctx, h.SideBySide, cmp.Or(h.Runs, math.MaxInt), func(ctx context.Context, i int) (Run, error) {
		number := h.Before + 1 + i
		run, err := h.try(ctx, number)
		if err != nil {
			err = fmt.Errorf("run %d of the hunt with seed %d: %w", number, h.Seed, err)
		}
		return run, err
	}, func(run Run) {
		if ctx.Err() != nil || run.Interrupted || !h.Each(run) {
			stop()
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// try makes the run with a number.
func (h Hunt) try(ctx context.Context, number int) (Run, error) {
	run := Run{Number: number}
	s, seed, err := h.draw(rand.New(nemesis.Stream(h.Seed, fmt.Sprintf("hunt %d", number))))
	if err != nil {
		return run, err
	}
	e, err := runner.Prepare(h.Backend, s)
	if err != nil {
		return run, err
	}
	if h.Watched != nil {
		e = h.Watched(number, e)
	}
	var c *contention
	e = e.WithReader(func(t *timeline.Timeline) { c = &contention{timeline: t}; t.Listen(c) })
	run.Result, err = e.WithEventLimit(MaxEvents).Run(ctx, seed, nil)
	if err != nil || run.Interrupted {
		return run, err
	}
	run.Contended = c.seen
	for _, p := range h.Terms(s).Tests(s, run.Report) {
		if !h.wants(p) {
			continue
		}
		run.Tested = append(run.Tested, p)
		if run.Report.Finding(p).Verdict == checker.Violated {
			run.Broken = append(run.Broken, p)
		}
	}
	return run, nil
}

func (h Hunt) wants(p checker.Property) bool {
	return len(h.Wanted) == 0 || slices.Contains(h.Wanted, p)
}

// draw draws a scenario whose plan has all faults, and a seed for its run.
func (h Hunt) draw(random *rand.Rand) (scenarios.Scenario, uint64, error) {
	aim := h.target(random)
	s, g, err := h.drawScenario(random, aim)
	if err != nil {
		return s, 0, err
	}
	seed := random.Uint64() >> 32
	a, promised := h.assumed(s, random, aim)
	admits := func(f nemesis.Fault) bool { return !promised || a.Admits(f, s) }
	unplanned, near := s, boundariesOf(s, h.Terms(s))
	for range maxPlans {
		s.Plan = drawPlan(g, unplanned, near, admits, random)
		if promised {
			s = a.Keep(s) // faults can be excluded together
		}
		if meets(s.World(), aim) {
			break
		}
	}
	return h.withPromisedBounds(s), seed, nil
}

// maxScenarios is how many scenarios are drawn until one admits some kind of fault and suits the aim, and maxPlans
// how many plans until one meets it. If none does, the last one is as good as any.
const (
	maxScenarios = 100
	maxPlans     = 20
)

// drawScenario draws a scenario in which some of the wanted faults are possible and, if there is any, the property
// that the run is aimed at can be violated.
func (h Hunt) drawScenario(random *rand.Rand, aim checker.Property) (s scenarios.Scenario, g nemesis.Generator, err error) {
	admits := false // s and g do
	for range maxScenarios {
		next := h.Space.Draw(random)
		faults, failed := h.generator(next)
		if failed == nil || !admits {
			s, g, err, admits = next, faults, failed, failed == nil
		}
		if failed == nil && h.suits(next, aim) {
			break
		}
	}
	return s, g, err
}

// generator returns a generator of the wanted kinds of faults that the scenario's world
// admits. Worlds differ, so kinds that one does not admit are no error.
func (h Hunt) generator(s scenarios.Scenario) (nemesis.Generator, error) {
	world, able := s.World(), h.Backend.Ability
	return nemesis.Generator{Faults: h.Faults.Among(world, able), Most: h.MaxFaults}.Only(world, able)
}

// Validate returns an error if no scenario admits the wanted faults.
func (h Hunt) Validate() error {
	_, _, err := h.drawScenario(rand.New(nemesis.Stream(h.Seed, "place")), "")
	return err
}

// assumed returns the assumptions that a plan keeps: those of the property that the run is aimed at or, if that is not
// promised, of one of the promised properties that are wanted.
func (h Hunt) assumed(s scenarios.Scenario, random *rand.Rand, aim checker.Property) (promises.Assumptions, bool) {
	terms := h.Terms(s)
	if a, promised := terms[aim]; promised {
		return aimed(a, s, aim), true
	}
	var promised []checker.Property
	for _, p := range checker.Properties() {
		if _, ok := terms[p]; ok && h.wants(p) {
			promised = append(promised, p)
		}
	}
	if len(promised) == 0 {
		return promises.Assumptions{}, false
	}
	return terms[promised[random.IntN(len(promised))]], true
}

// withPromisedBounds returns the scenario without the bounds that its lock does not promise
// under the plan. The other bounds still apply.
func (h Hunt) withPromisedBounds(s scenarios.Scenario) scenarios.Scenario {
	without := s
	without.Bounds.Notice, without.Bounds.Renew = 0, 0
	kept := func(s scenarios.Scenario) bool { return h.Terms(s).Excuse(checker.Contract, s) == nil }
	if s.Bounds != without.Bounds && !kept(s) && kept(without) {
		return without
	}
	return s
}
