package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"sort"
	"sync/atomic"
)

// Batch is many runs of one experiment, with the seeds First, First+1, …
type Batch struct {
	Experiment Experiment
	First      uint64
	Runs       int

	// SideBySide is how many runs are made at a time by [Batch.Run]. 0: all cores are used if the backend is
	// exact, and otherwise one run is made after another, because the runs share real time.
	SideBySide int

	// Name is a prefix for the errors of its runs. It may be empty.
	Name string

	// One runs one seed; nil means [Experiment.Run] without keeping the history.
	One func(ctx context.Context, seed uint64) (Result, error)

	// Each is called for every result that counts, in the order of the seeds. It may be
	// nil.
	Each func(Result)

	// Failed is called, by several goroutines, with the error of a world whose run will be
	// repeated. Servers may fail to start on a busy machine, and that should not end hours of
	// work. nil: such an error ends the batches.
	Failed func(error)
}

// Run runs this batch alone with [RunBatches].
func (b Batch) Run(ctx context.Context) (Tally, error) {
	usual := 1
	if b.Experiment.backend.Exact {
		usual = runtime.GOMAXPROCS(0)
	}
	tallies, err := RunBatches(ctx, cmp.Or(b.SideBySide, usual), []Batch{b})
	return tallies[0], err
}

// RunBatches runs several batches as one, with at most sideBySide runs at a time, and
// returns the tally of each, also after an error. A run that slipped is repeated a few
// times, alone, when all others are done. If every repetition slips too, the run counts as
// slipped. After too many failed repetitions no more are made.
//
// It stops at the first error, in the order of batches and seeds. Errors of worlds are exempt
// in a batch with [Batch.Failed]: the run is repeated like one that slipped, and only an error
// of the repetition, or too many errors, stop all. When ctx ends it stops early without an error.
func RunBatches(ctx context.Context, sideBySide int, batches []Batch) ([]Tally, error) {
	accounts := make([]*batchRun, len(batches))
	ends := make([]int, len(batches)) // of the batches, in numbers of runs
	total := 0
	for i, b := range batches {
		total += b.Runs
		accounts[i], ends[i] = &batchRun{Batch: b, tally: NewTally(b.Experiment.scenario)}, total
	}
	of := func(i int) int { return sort.SearchInts(ends, i+1) }
	next := 0
	var failures atomic.Int32
	err := InOrder(ctx, sideBySide, total, func(ctx context.Context, i int) (attempt, error) {
		a, end := accounts[of(i)], ends[of(i)]
		seed := a.First + uint64(a.Runs-(end-i))
		r, err := a.run(ctx, seed)
		if a.Failed == nil || !passing(err) || endedBy(ctx, err) || failures.Add(1) > maxFailures {
			return attempt{r, seed, nil}, err
		}
		a.Failed(err)
		return attempt{r, seed, err}, nil
	}, func(r attempt) {
		accounts[of(next)].add(r)
		next++
	})
	tallies, again := make([]Tally, len(batches)), new(retries)
	for i, a := range accounts {
		if err == nil {
			err = a.settle(ctx, again)
		}
		tallies[i] = a.tally
		tallies[i].Interrupted = a.tally.Interrupted || a.tally.Runs < a.Runs && err == nil
	}
	return tallies, err
}

// passing reports whether an error of a run may not occur again: one of a world, unless a program is
// missing.
func passing(err error) bool {
	var world *worldError
	return errors.As(err, &world) && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist)
}

// endedBy reports whether err says that ctx has ended.
func endedBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// maxRetries is how often a run is repeated that slipped, or that a watch has not seen in time.
const maxRetries = 3

// maxFailedRetries is the number of failed repetitions in a row after which no more are
// made: the machine is too slow.
const maxFailedRetries = 4 * maxRetries

// maxFailures is how many runs may end with an error before the next error stops all.
const maxFailures = 5

// attempt is a run that was made, or could not be made.
type attempt struct {
	Result
	seed uint64
	err  error
}

// again reports whether the run has to be repeated.
func (a attempt) again() bool { return a.err != nil || a.Slipped() || a.Unseen() }

// retries counts the repetitions in a row that were in vain.
type retries struct{ failed int } // the last so many

// allowed reports whether a run that has been repeated n times should be repeated.
func (r *retries) allowed(n int) bool { return n < maxRetries && r.failed < maxFailedRetries }

// done counts a repetition.
func (r *retries) done(again bool) {
	r.failed++
	if !again {
		r.failed = 0
	}
}

// batchRun is a batch and its results so far.
type batchRun struct {
	Batch
	tally    Tally
	deferred []attempt // from the first on that has to be repeated: results have to come in order
}

// run runs one seed.
func (a *batchRun) run(ctx context.Context, seed uint64) (r Result, err error) {
	if a.One != nil {
		r, err = a.One(ctx, seed)
	} else {
		r, err = a.Experiment.Run(ctx, seed, nil)
	}
	if err != nil && a.Experiment.generator != nil { // each run has a plan of its own
		err = fmt.Errorf("seed %d: %w", seed, err)
	}
	if err != nil && a.Name != "" {
		err = fmt.Errorf("%s: %w", a.Name, err)
	}
	return r, err
}

// add adds the result of the next run.
func (a *batchRun) add(r attempt) {
	if len(a.deferred) > 0 || r.again() {
		a.deferred = append(a.deferred, r)
		return
	}
	a.count(r.Result)
}

// settle repeats the runs that failed, slipped or were not seen, and counts the deferred results.
func (a *batchRun) settle(ctx context.Context, again *retries) error {
	for _, r := range a.deferred {
		for n := 0; r.again() && again.allowed(n) && ctx.Err() == nil; n++ {
			next, err := a.run(ctx, r.seed)
			if endedBy(ctx, err) {
				break
			}
			if err != nil {
				return err
			}
			if !next.Interrupted {
				if r.err == nil {
					a.tally.Discarded++
				}
				r = attempt{next, r.seed, nil}
			}
			again.done(r.again())
		}
		switch {
		case r.err == nil:
			a.count(r.Result)
		case ctx.Err() == nil:
			return r.err
		}
	}
	return nil
}

func (a *batchRun) count(r Result) {
	a.tally.Add(r)
	if a.Each != nil {
		a.Each(r)
	}
}
