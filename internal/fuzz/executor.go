package fuzz

import (
	"context"
	"fmt"
	"sync"
)

// lookahead is how many runs are in progress or queued. Run n is drawn when Each has seen the
// runs up to n-lookahead, and depends on no later run. So a hunt does not depend on the order
// in which runs end, nor on the number of cores. With up to that many cores, no core waits for
// another.
const lookahead = 64

// measure runs the given candidates and adds them to the corpus.
func (e *executor) measure(ctx context.Context, given []Candidate, corpus *corpus) error {
	for i := range given {
		e.waiting <- &trial{run: Run{Number: i + 1}, again: &given[i], given: true}
	}
	for i := range given {
		t := e.await(i + 1)
		switch {
		case ctx.Err() != nil || t.run.Result.Interrupted:
			return nil
		case t.err != nil:
			return fmt.Errorf("given candidate %d: %w", i+1, t.err)
		}
		corpus.add(t)
	}
	return nil
}

// search makes the runs of the hunt itself.
func (h Hunt) search(ctx context.Context, exec *executor, corpus *corpus) error {
	last := h.Before + h.Runs
	draw := func(n int) {
		if h.Runs == 0 || n <= last {
			exec.waiting <- corpus.next(n)
		}
	}
	for i := range lookahead {
		draw(h.Before + 1 + i)
	}
	for n := h.Before + 1; h.Runs == 0 || n <= last; n++ {
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
		draw(n + lookahead)
	}
	return nil
}

// trial is a run and what it has shown.
type trial struct {
	run     Run
	parent  *Candidate // the candidate to mutate; nil: a new one is drawn
	again   *Candidate // the candidate itself; nil: see parent
	given   bool       // by another hunt
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
