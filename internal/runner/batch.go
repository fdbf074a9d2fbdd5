package runner

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync"
)

// Batch is many runs of one experiment, with the seeds First, First+1, …
type Batch struct {
	Experiment Experiment
	First      uint64
	Runs       int

	// Name begins the errors of its runs; empty: nothing does.
	Name string

	// One runs one seed; nil means [Experiment.Run] without keeping the history.
	One func(ctx context.Context, seed uint64) (Result, error)

	// Each is called for every result that counts, in the order of the seeds.
	Each func(Result)
}

// Run is [RunBatches] of this batch alone: on all cores where the backend's runs are
// exact, one run after another where they share the machine's real time.
func (b Batch) Run(ctx context.Context) (Tally, error) {
	sideBySide := 1
	if b.Experiment.backend.Exact {
		sideBySide = runtime.GOMAXPROCS(0)
	}
	tallies, err := RunBatches(ctx, sideBySide, []Batch{b})
	return tallies[0], err
}

// RunBatches runs batches as if they were one, so many runs at a time, and returns what
// each amounts to, also after an error. A run that slipped is repeated when all others are
// done, with nothing beside it, a few times; one that slips whenever it is run counts as
// that, and so do all others on a machine that is too slow for any.
//
// It stops at the first error, in the order of the batches and of the seeds, and early but
// without an error when ctx ends.
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
	err := inOrder(ctx, min(sideBySide, total), total, func(ctx context.Context, i int) (Result, error) {
		a, end := accounts[of(i)], ends[of(i)]
		return a.run(ctx, a.First+uint64(a.Runs-(end-i)))
	}, func(r Result) {
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

// maxRetries is how often a run is repeated that slipped.
const maxRetries = 3

// maxFailedRetries is how many repetitions have to slip, one after another, before no more are
// made.
const maxFailedRetries = 4 * maxRetries

// retries is the repetitions of all runs that slipped.
type retries struct{ failed int } // the last so many

// allowed reports whether a run should be repeated that has been so n times.
func (r *retries) allowed(n int) bool { return n < maxRetries && r.failed < maxFailedRetries }

// done takes note of a repetition.
func (r *retries) done(slipped bool) {
	r.failed++
	if !slipped {
		r.failed = 0
	}
}

// batchRun is a batch and what it amounts to so far.
type batchRun struct {
	Batch
	tally    Tally
	deferred []Result // from the first on that slipped: what counts has to come in order
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

// add takes the result of the next run.
func (a *batchRun) add(r Result) {
	if len(a.deferred) > 0 || r.Slipped() {
		a.deferred = append(a.deferred, r)
		return
	}
	a.count(r)
}

// settle repeats what has slipped, and counts what was held back.
func (a *batchRun) settle(ctx context.Context, again *retries) error {
	for _, r := range a.deferred {
		for n := 0; r.Slipped() && again.allowed(n) && ctx.Err() == nil; n++ {
			next, err := a.run(ctx, r.Seed)
			if err != nil {
				return err
			}
			if !next.Interrupted {
				r = next
			}
			again.done(r.Slipped())
		}
		a.count(r)
	}
	return nil
}

func (a *batchRun) count(r Result) {
	a.tally.Add(r)
	if a.Each != nil {
		a.Each(r)
	}
}

// maxAhead is how many results a worker may have waiting for one that takes long.
const maxAhead = 16

// inOrder calls work for 0 to n-1 on some workers, and take for each result in
// the order of the numbers, on the caller's goroutine. It ends with the first
// error, by number; when ctx ends it takes what is done up to the first gap. No
// worker runs further ahead than a few numbers, so that memory does not grow
// with n.
func inOrder[T any](ctx context.Context, workers, n int, work func(context.Context, int) (T, error), take func(T)) error {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop() // first, so that what is under way ends early

	type outcome struct {
		value T
		err   error
	}
	type job struct {
		number int
		done   chan outcome
	}
	todo := make(chan job)
	pending := make(chan job, maxAhead*workers) // in the order of the numbers
	for range workers {
		group.Go(func() {
			for j := range todo {
				v, err := work(ctx, j.number)
				j.done <- outcome{v, err}
			}
		})
	}
	group.Go(func() {
		defer close(pending)
		defer close(todo)
		for i := range n {
			j := job{i, make(chan outcome, 1)}
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
			pending <- j // there is room, or the caller makes some
		}
	})
	for j := range pending {
		o := <-j.done
		if o.err != nil {
			stop()
			for range pending { // let the feeder end
			}
			return o.err
		}
		take(o.value)
	}
	return nil
}
