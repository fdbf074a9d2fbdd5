package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Hunt searches for runs that break a promise.
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

	// Causes are the kinds of faults that have to cause a violation: a violation that also
	// occurs without the faults of these kinds (control runs find out) does not count. Empty
	// means any cause.
	Causes []nemesis.Kind

	// Seed determines the hunt.
	Seed uint64

	// Before is how many runs of the same hunt are made elsewhere, before these: the first run has
	// the number after it. What is drawn for a run depends on its number.
	Before int

	// Runs is how many runs are made at most; 0: Each says when the hunt ends.
	Runs int

	// SideBySide is how many runs are made at a time; 0: one per core.
	SideBySide int

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
	Number int // from 1, or from Before+1
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

// Run hunts until ctx ends, which is no error, Each returns false, or all runs are made.
func (h Hunt) Run(ctx context.Context) error {
	_, err := h.RunFrom(ctx, nil)
	return err
}

// RunFrom is [Hunt.Run] that begins with candidates of other hunts like this one, at most
// [MaxGiven], and returns what it offers to others: see [Entry]. Each is not called for the given
// candidates, which whoever found them has counted. They are run before all others, so that how
// close they came is measured and not believed: that costs one run each. A candidate that is none
// of this hunt is an error. With other guidance than [Full] they are not used, and nothing is
// offered.
//
// The hunt and the given candidates determine the runs and what is offered.
func (h Hunt) RunFrom(ctx context.Context, given []Candidate) ([]Entry, error) {
	if !h.Guidance.full() {
		given = nil
	}
	if err := h.admit(given); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	exec := &executor{waiting: make(chan *trial, lookahead), done: make(chan *trial, lookahead)}
	defer exec.stop(stop)
	for range cmp.Or(h.SideBySide, runtime.GOMAXPROCS(0)) {
		exec.workers.Go(func() { exec.work(ctx, h) })
	}
	corpus := newCorpus(h)
	if err := exec.measure(ctx, given, corpus); err != nil || ctx.Err() != nil {
		return nil, err
	}
	err := h.search(ctx, exec, corpus)
	return corpus.offers(), err
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
