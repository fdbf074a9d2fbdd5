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

	// Wanted are the properties whose violations are searched. Empty means all.
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

	// SideBySide is how many runs are made at a time; 0: one per core.
	SideBySide int

	// Each is called for every run, in order, on the caller's goroutine. If it returns false
	// the hunt ends.
	Each func(Run) bool
}

// Run is one run of a hunt.
type Run struct {
	Number int // from 1, or from Before+1
	runner.Result
	Broken []checker.Property // the wanted properties that it breaks

	// Tested are the wanted properties that are promised, that the run could have broken, and
	// whose assumptions it kept.
	Tested []checker.Property

	// Contended says that some fault began while a client held a lock that another wanted.
	Contended bool
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
