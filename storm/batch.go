package storm

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Batch is many runs of one experiment, with the seeds First, First+1, …
type Batch struct {
	Experiment Experiment
	First      uint64
	Runs       int

	// One runs one seed; nil means [Experiment.Run] without keeping the history.
	One func(ctx context.Context, seed uint64) (Result, error)

	// Each is called for every result, in the order of the seeds.
	Each func(Result)
}

// Run runs the batch: on all cores where the backend's runs are exact, one
// after another where they share the machine's real time. It stops at the
// first error, and early but without an error when ctx ends.
func (b Batch) Run(ctx context.Context) (Tally, error) {
	one := b.One
	if one == nil {
		one = func(ctx context.Context, seed uint64) (Result, error) {
			return b.Experiment.Run(ctx, seed, nil)
		}
	}
	workers := 1
	if b.Experiment.backend.Exact {
		workers = min(runtime.GOMAXPROCS(0), b.Runs)
	}
	tally := NewTally(b.Experiment.scenario)
	err := inOrder(ctx, workers, b.Runs, func(ctx context.Context, i int) (Result, error) {
		seed := b.First + uint64(i)
		r, err := one(ctx, seed)
		if err != nil && b.Experiment.generator != nil { // each run has a plan of its own
			err = fmt.Errorf("seed %d: %w", seed, err)
		}
		return r, err
	}, func(r Result) {
		tally.Add(r)
		if b.Each != nil {
			b.Each(r)
		}
	})
	tally.Interrupted = tally.Interrupted || tally.Runs < b.Runs && err == nil
	return tally, err
}

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
	pending := make(chan job, 4*workers) // in the order of the numbers
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
