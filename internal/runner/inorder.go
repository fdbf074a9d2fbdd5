package runner

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxAhead is how many results per worker may wait for an earlier run that takes long.
const maxAhead = 16

// InOrder calls work for 0 to n-1 on several workers (0: one per core), and take for each result in the
// order of the numbers, on the caller's goroutine. It returns the first error, by number.
// When ctx ends, which is no error, it takes the finished results up to the first gap. Workers run
// only a limited number of jobs ahead, so that memory does not grow with n.
func InOrder[T any](ctx context.Context, workers, n int, work func(context.Context, int) (T, error), take func(T)) error {
	workers = min(cmp.Or(workers, runtime.GOMAXPROCS(0)), n)
	type outcome struct {
		value T
		err   error
	}
	outcomes := make([]chan outcome, maxAhead*workers) // that of job i is number i modulo their number
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	ahead := make(chan struct{}, len(outcomes)) // one for each job that has begun and was not taken
	var begun atomic.Int64

	working, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			// No goroutine hands out the jobs: it would have to run between any two of
			// them, and two workers would wait for it an eighth of the time.
			for working.Err() == nil {
				select {
				case ahead <- struct{}{}:
				case <-working.Done():
					return
				}
				i := int(begun.Add(1)) - 1
				if i >= n {
					return
				}
				v, err := work(working, i)
				outcomes[i%len(outcomes)] <- outcome{v, err}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	defer func() {
		stop() // what is under way ends early
		<-ended
	}()

	for i := range n {
		done := outcomes[i%len(outcomes)]
		var o outcome
		select {
		case o = <-done:
		case <-ended:
			select {
			case o = <-done:
			default:
				return nil // ctx ended before this job began
			}
		}
		switch {
		case endedBy(ctx, o.err):
			return nil
		case o.err != nil:
			return o.err
		}
		take(o.value)
		<-ahead
	}
	return nil
}
