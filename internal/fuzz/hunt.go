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

// Hunt is a search for runs that break what is promised.
type Hunt struct {
	Backend runner.Backend
	Ground  SearchSpace

	// Terms says what of a scenario is promised, and under which assumptions.
	Terms func(scenarios.Scenario) Terms

	// Wanted are the properties whose violations are looked for; none: all.
	Wanted []checker.Property

	// Faults are the weights of the kinds of faults, and Most the largest number of
	// faults of a plan.
	Faults nemesis.Weights
	Most   int

	// Causes are kinds of faults to which a violation has to be due: what a run breaks
	// just as well without its faults of these kinds, which is tried, does not count
	// as broken. None: whatever is broken is found, whoever has done it.
	Causes []nemesis.Kind

	// Seed is what everything follows from.
	Seed uint64

	// Guidance is what helps chance; nothing: [Full].
	Guidance Guidance

	// Each is called for every run, in their order, on the caller's goroutine. When it
	// returns false the hunt ends.
	Each func(Run) bool
}

// Guidance is what helps chance in a hunt.
type Guidance string

// From most to least.
const (
	Full Guidance = "full" // what is drawn is aimed, and what came close is changed
	Aim  Guidance = "aim"  // what is drawn is aimed
	None Guidance = "none" // every plan is drawn from the weights of its faults alone
)

// Guidances are all of them.
var Guidances = []Guidance{Full, Aim, None}

func (g Guidance) full() bool { return g == Full || g == "" }

// Validate returns an error for what is none of these, nor nothing.
func (g Guidance) Validate() error {
	if g == "" || slices.Contains(Guidances, g) {
		return nil
	}
	return fmt.Errorf("unknown guidance %q: want %s, %s or %s", string(g), Full, Aim, None)
}

// Run is one run of a hunt.
type Run struct {
	Number int // from 1
	Candidate
	Result runner.Result
	Broken []checker.Property // of those wanted: what it breaks, by a cause that is wanted

	// Tested are those of the properties wanted that are promised, that the run could
	// have broken, and for which it kept to what is assumed.
	Tested []checker.Property

	// Contended says that some fault began while a client held what another wanted.
	Contended bool

	// Near is how close it came. Without full guidance nothing is measured.
	Near Near
}

// ahead is how many runs are under way, or wait for their turn. Run n is drawn when
// those up to n-ahead have been told, and goes by what these have shown and no other:
// so a hunt depends neither on which run ends first nor on how many go side by side.
// It is enough for as many cores, which need never wait for one another.
const ahead = 64

// Run hunts until ctx ends, which is no error, or Each returns false.
func (h Hunt) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	field := field{waiting: make(chan *trial, ahead), done: make(chan *trial, ahead)}
	defer field.clear(stop)
	for range runtime.GOMAXPROCS(0) {
		field.workers.Go(func() { field.work(ctx, h) })
	}
	pool := newPool(h)
	for n := 1; n <= ahead; n++ {
		field.waiting <- pool.next(n)
	}
	for n := 1; ; n++ {
		t := field.await(n)
		switch {
		case ctx.Err() != nil || t.shot.Result.Interrupted:
			return nil
		case t.err != nil:
			return fmt.Errorf("run %d of the hunt with seed %d: %w", n, h.Seed, t.err)
		case !h.Each(t.shot):
			return nil
		}
		pool.learn(t)
		field.waiting <- pool.next(n + ahead)
	}
}

// trial is a run from its number to what it has shown.
type trial struct {
	shot   Run
	parent *Candidate // it is a change of this one; nil: it is drawn anew
	shown  *closeness // nil without full guidance
	err    error
}

// field is where the runs of a hunt are made, side by side.
type field struct {
	waiting, done chan *trial
	workers       sync.WaitGroup
	early         [ahead]*trial // that ended before their turn
}

func (f *field) work(ctx context.Context, h Hunt) {
	for t := range f.waiting {
		if ctx.Err() == nil {
			t.err = h.try(ctx, t)
		}
		f.done <- t
	}
}

// await returns the trial of a number.
func (f *field) await(number int) *trial {
	turn := &f.early[number%ahead]
	for *turn == nil {
		t := <-f.done
		f.early[t.shot.Number%ahead] = t
	}
	t := *turn
	*turn = nil
	return t
}

// clear stops what is under way and waits for it.
func (f *field) clear(stop func()) {
	stop()
	close(f.waiting)
	f.workers.Wait()
}

// try makes the candidate of a trial and its run.
func (h Hunt) try(ctx context.Context, t *trial) error {
	c, e, err := h.candidate(t.shot.Number, t.parent)
	if err != nil {
		return err
	}
	t.shot.Candidate = c
	contention := newContention()
	watch := history.Sink(contention)
	if h.Guidance.full() {
		t.shown = newCloseness(e.Header(c.Seed))
		watch = history.Tee(contention, t.shown)
	}
	t.shot.Result, err = e.WithEventLimit(mostEvents).Run(ctx, c.Seed, watch)
	if err != nil || t.shot.Result.Interrupted {
		return err
	}
	t.shot.Contended = contention.seen
	if t.shown != nil {
		t.shot.Near = t.shown.told()
	}
	report := t.shot.Result.Report
	for _, p := range h.Terms(c.Scenario).Tests(c.Scenario, report) {
		if h.wants(p) {
			t.shot.Tested = append(t.shot.Tested, p)
		}
	}
	broken := slices.DeleteFunc(slices.Clone(t.shot.Tested), func(p checker.Property) bool { return report.Finding(p).Verdict != checker.Violated })
	if len(broken) > 0 && len(h.Causes) > 0 {
		broken, err = c.Due(ctx, h.Backend, h.Causes, broken)
	}
	t.shot.Broken = broken
	return err
}

func (h Hunt) wants(p checker.Property) bool {
	return len(h.Wanted) == 0 || slices.Contains(h.Wanted, p)
}

// wantsMore reports whether a property is wanted that is not among those broken.
func (h Hunt) wantsMore(broken []checker.Property) bool {
	return slices.ContainsFunc(checker.Properties(), func(p checker.Property) bool {
		return h.wants(p) && !slices.Contains(broken, p)
	})
}
