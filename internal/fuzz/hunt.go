package fuzz

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Hunt searches for runs that break a promise.
type Hunt struct {
	Backend runner.Backend
	Space   SearchSpace

	// Terms says which properties are promised for a scenario, and under which assumptions.
	Terms func(scenarios.Scenario) Terms

	// Wanted are the properties whose violations are searched. Empty means all.
	Wanted []checker.Property

	// Faults are the weights of the kinds of faults.
	Faults nemesis.Weights
	// MaxFaults is the largest number of faults of a plan.
	MaxFaults int

	// Causes are the kinds of faults that have to cause a violation: a violation that also
	// occurs without the faults of these kinds (control runs find out) does not count. Empty
	// means any cause.
	Causes []nemesis.Kind

	// Seed determines the hunt.
	Seed uint64

	// Guidance says what guides the random draws. Empty means [Full].
	Guidance Guidance

	// Depth is that of [Priorities], at least 1: see [nemesis.Priorities].
	Depth int

	// Each is called for every run, in order, on the caller's goroutine. If it returns false
	// the hunt ends.
	Each func(Run) bool
}

// Guidance says what guides the random draws of a hunt.
type Guidance string

// The guidances.
const (
	Full       Guidance = "full"       // aimed plans, and mutations of runs that came close
	Aim        Guidance = "aim"        // aimed plans
	Priorities Guidance = "priorities" // aimed plans, each also with latencies by priorities
	None       Guidance = "none"       // plans follow the weights of faults alone
)

// Guidances lists all of them.
var Guidances = []Guidance{Full, Aim, Priorities, None}

func (g Guidance) full() bool { return g == Full || g == "" }

// Validate returns an error for an unknown guidance. Empty is valid.
func (g Guidance) Validate() error {
	if g == "" || slices.Contains(Guidances, g) {
		return nil
	}
	return fmt.Errorf("unknown guidance %q: want %s, %s, %s or %s", string(g), Full, Aim, Priorities, None)
}

// Run is one run of a hunt.
type Run struct {
	Number int // from 1
	Candidate
	Result runner.Result
	Broken []checker.Property // the wanted properties that it breaks by a wanted cause

	// Tested are the wanted properties that are promised, that the run could have broken, and
	// whose assumptions it kept.
	Tested []checker.Property

	// Contended says that some fault began while a client held a lock that another wanted.
	Contended bool

	// Near says how close the run came to granting a lock twice. It is measured only with full
	// guidance.
	Near NearMiss
}

// lookahead is how many runs are in progress or queued. Run n is drawn when Each has seen the
// runs up to n-lookahead, and depends on no later run. So a hunt does not depend on the order
// in which runs end, nor on the number of cores. With up to that many cores, no core waits for
// another.
const lookahead = 64

// Run hunts until ctx ends, which is no error, or Each returns false.
func (h Hunt) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	exec := executor{waiting: make(chan *trial, lookahead), done: make(chan *trial, lookahead)}
	defer exec.stop(stop)
	for range runtime.GOMAXPROCS(0) {
		exec.workers.Go(func() { exec.work(ctx, h) })
	}
	corpus := newCorpus(h)
	for n := 1; n <= lookahead; n++ {
		exec.waiting <- corpus.next(n)
	}
	for n := 1; ; n++ {
		t := exec.await(n)
		switch {
		case ctx.Err() != nil || t.run.Result.Interrupted:
			return nil
		case t.err != nil:
			return fmt.Errorf("run %d of the hunt with seed %d: %w", n, h.Seed, t.err)
		case !h.Each(t.run):
			return nil
		}
		corpus.add(t)
		exec.waiting <- corpus.next(n + lookahead)
	}
}

// trial is a run and what it has shown.
type trial struct {
	run     Run
	parent  *Candidate // the candidate to mutate; nil: a new one is drawn
	again   *Candidate // the candidate itself; nil: see parent
	fitness *fitness   // nil without full guidance
	err     error
}

// executor makes the runs of a hunt in parallel.
type executor struct {
	waiting, done chan *trial
	workers       sync.WaitGroup
	early         [lookahead]*trial // finished before an earlier run
}

func (e *executor) work(ctx context.Context, h Hunt) {
	for t := range e.waiting {
		if ctx.Err() == nil {
			t.err = h.try(ctx, t)
		}
		e.done <- t
	}
}

// await returns the trial with a number.
func (e *executor) await(number int) *trial {
	slot := &e.early[number%lookahead]
	for *slot == nil {
		t := <-e.done
		e.early[t.run.Number%lookahead] = t
	}
	t := *slot
	*slot = nil
	return t
}

// stop stops all runs and waits for them.
func (e *executor) stop(stop func()) {
	stop()
	close(e.waiting)
	e.workers.Wait()
}

// try makes the candidate of a trial and runs it.
func (h Hunt) try(ctx context.Context, t *trial) error {
	c, e, err := h.candidate(t)
	if err != nil {
		return err
	}
	t.run.Candidate = c
	contention := newContention()
	watch := history.Sink(contention)
	if h.Guidance.full() {
		t.fitness = newFitness(e.Header(c.Seed))
		watch = history.Tee(contention, t.fitness)
	}
	t.run.Result, err = e.WithEventLimit(maxEvents).Run(ctx, c.Seed, watch)
	if err != nil || t.run.Result.Interrupted {
		return err
	}
	t.run.Contended = contention.seen
	if t.fitness != nil {
		t.run.Near = t.fitness.nearMiss()
	}
	report := t.run.Result.Report
	for _, p := range h.Terms(c.Scenario).Tests(c.Scenario, report) {
		if h.wants(p) {
			t.run.Tested = append(t.run.Tested, p)
		}
	}
	broken := slices.DeleteFunc(slices.Clone(t.run.Tested), func(p checker.Property) bool { return report.Finding(p).Verdict != checker.Violated })
	if len(broken) > 0 && len(h.Causes) > 0 {
		broken, err = c.CausedBy(ctx, h.Backend, h.Causes, broken)
	}
	t.run.Broken = broken
	return err
}

func (h Hunt) wants(p checker.Property) bool {
	return len(h.Wanted) == 0 || slices.Contains(h.Wanted, p)
}

// wantsMore reports whether a wanted property is missing in broken.
func (h Hunt) wantsMore(broken []checker.Property) bool {
	return slices.ContainsFunc(checker.Properties(), func(p checker.Property) bool {
		return h.wants(p) && !slices.Contains(broken, p)
	})
}
