package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
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
	Candidate
	Result runner.Result
	Broken []checker.Property // the wanted properties that it breaks

	// Tested are the wanted properties that are promised, that the run could have broken, and
	// whose assumptions it kept.
	Tested []checker.Property

	// Contended says that some fault began while a client held a lock that another wanted.
	Contended bool
}

// lookahead is how many runs are begun at most before an earlier one has ended, so that a long run does
// not keep the other cores waiting.
const lookahead = 64

// outcome is a run, or why there is none.
type outcome struct {
	run Run
	err error
}

// Run hunts until ctx ends, which is no error, Each returns false, or all runs are made.
func (h Hunt) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	slots := make(chan struct{}, cmp.Or(h.SideBySide, runtime.GOMAXPROCS(0)))
	begin := func(number int) <-chan outcome {
		done := make(chan outcome, 1)
		workers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var o outcome
			if ctx.Err() == nil {
				o.run, o.err = h.try(ctx, number)
			}
			done <- o
		})
		return done
	}
	last := h.Before + h.Runs
	var ahead []<-chan outcome // of the runs from n on
	for n := h.Before + 1; h.Runs == 0 || n <= last; n++ {
		for len(ahead) < lookahead && (h.Runs == 0 || n+len(ahead) <= last) {
			ahead = append(ahead, begin(n+len(ahead)))
		}
		o := <-ahead[0]
		ahead = ahead[1:]
		switch {
		case ctx.Err() != nil || o.run.Result.Interrupted:
			return nil
		case o.err != nil:
			return fmt.Errorf("run %d of the hunt with seed %d: %w", n, h.Seed, o.err)
		case !h.Each(o.run):
			return nil
		}
	}
	return nil
}

// try makes the run with a number.
func (h Hunt) try(ctx context.Context, number int) (Run, error) {
	run := Run{Number: number}
	var err error
	if run.Candidate, err = h.draw(rand.New(nemesis.Stream(h.Seed, fmt.Sprintf("hunt %d", number)))); err != nil {
		return run, err
	}
	e, err := runner.Prepare(h.Backend, run.Scenario)
	if err != nil {
		return run, err
	}
	contention := newContention()
	run.Result, err = e.WithEventLimit(MaxEvents).Run(ctx, run.Candidate.Seed, contention)
	if err != nil || run.Result.Interrupted {
		return run, err
	}
	run.Contended = contention.seen
	report := run.Result.Report
	for _, p := range h.Terms(run.Scenario).Tests(run.Scenario, report) {
		if !h.wants(p) {
			continue
		}
		run.Tested = append(run.Tested, p)
		if report.Finding(p).Verdict == checker.Violated {
			run.Broken = append(run.Broken, p)
		}
	}
	return run, nil
}

func (h Hunt) wants(p checker.Property) bool {
	return len(h.Wanted) == 0 || slices.Contains(h.Wanted, p)
}
