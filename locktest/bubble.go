package locktest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// enter runs do, in a bubble if time is virtual on the backend.
func (w backendInfo) enter(t *testing.T, do func(ctx context.Context) error) error {
	if !w.bubble {
		return do(t.Context())
	}
	return runInBubble(t, do)
}

// bubbles allows one bubble at a time. Client libraries keep timers for the whole program,
// and a timer that was made in one bubble crashes the program when it is used in another.
var bubbles sync.Mutex

// runInBubble runs do in a bubble without failing the test. If goroutines of the bubble are
// left, or do panics, it returns an error. The goroutines of a failed bubble are leaked.
func runInBubble(t *testing.T, do func(ctx context.Context) error) (err error) {
	bubbles.Lock() // of tests that run in parallel
	defer bubbles.Unlock()
	returned, dog := false, new(watchdog)
	defer dog.watch(t.Name())()
	defer func() {
		if p := recover(); p != nil {
			err = bubbleError(p, returned, err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		go dog.run(done)
		defer func() {
			returned = true
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		err = do(t.Context())
		time.Sleep(lingerTime)
	})
	return err
}

// lingerTime is how long goroutines may take to end after everything is closed, in virtual
// time. Some check only now and then whether they should end.
const lingerTime = time.Minute

// bubbleError returns the error of a bubble that has panicked. While its function runs that
// cannot be a deadlock, because the watchdog's goroutine always wakes.
func bubbleError(p any, returned bool, err error) error {
	if !returned {
		return errors.Join(err, fmt.Errorf("cannot start a bubble of testing/synctest: %v", p))
	}
	return errors.Join(err, fmt.Errorf("goroutines of the lock are left behind after the run and its cleanup functions: end them in a function passed to env.Cleanup\n\n%s", bubbleGoroutines(func(string) bool { return true })))
}

// maxShownGoroutines is how many goroutines of a bubble are shown.
const maxShownGoroutines = 5

// durable marks, in stack traces, goroutines that do not stop virtual time.
const durable = "(durable)"

// bubbleMark marks, in stack traces, goroutines of a bubble. The bubble's number follows.
const bubbleMark = "synctest bubble "

// insideBubble reports whether the caller is in a bubble.
func insideBubble() bool {
	stack := make([]byte, 256)
	first, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "\n")
	return strings.Contains(first, bubbleMark)
}

// bubbleGoroutines returns the stack traces of the newest bubble whose first lines are
// wanted.
func bubbleGoroutines(wanted func(first string) bool) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	in, last := []string{}, 0
	for _, g := range strings.Split(string(stacks), "\n\n") {
		bubble := 0
		first, _, _ := strings.Cut(g, "\n")
		if _, number, found := strings.Cut(first, bubbleMark); found {
			_, _ = fmt.Sscanf(number, "%d", &bubble)
		}
		if bubble > last {
			in, last = nil, bubble
		}
		if bubble == last && last > 0 && wanted(first) {
			in = append(in, g)
		}
	}
	if len(in) > maxShownGoroutines {
		in = append(in[:maxShownGoroutines], fmt.Sprintf("and %d more", len(in)-maxShownGoroutines))
	}
	return strings.Join(in, "\n\n")
}

// stallTimeout is how long, in real time, virtual time may stand still before the test
// binary ends.
var stallTimeout = time.Minute

// watchdog checks that virtual time advances: run counts seconds inside the bubble, and
// watch observes the count from outside.
type watchdog struct{ seconds atomic.Int64 }

// run counts the seconds of virtual time until done is closed.
func (p *watchdog) run(done <-chan struct{}) {
	for {
		select {
		case <-time.After(time.Second):
			p.seconds.Add(1)
		case <-done:
			return
		}
	}
}

// watch ends the test binary if virtual time stands still for too long, because nothing
// else can end a bubble. The returned function ends the watch.
func (p *watchdog) watch(test string) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		last, since := p.seconds.Load(), time.Now()
		tick := time.NewTicker(stallTimeout / 10)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
			}
			if now := p.seconds.Load(); now != last {
				last, since = now, time.Now()
			}
			if time.Since(since) > stallTimeout {
				panic(fmt.Sprintf("locktest: %s: virtual time has stood still for %v: a goroutine of the lock retries without a pause, waits for something outside the run (such as a Redis client that was not made in it), or waits for a mutex whose owner waits for the network (which testing/synctest does not count as blocked)\n\n%s", test, stallTimeout, bubbleGoroutines(func(first string) bool { return !strings.Contains(first, durable) })))
			}
		}
	}()
	return func() { close(stopped) }
}
