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

// enter lets do run where the backend's worlds can be: in a bubble, if time is virtual there.
func (w backendInfo) enter(t *testing.T, do func(ctx context.Context) error) error {
	if !w.bubble {
		return do(t.Context())
	}
	return runInBubble(t, do)
}

// bubbles lets one bubble after another be: client libraries keep timers for all of a program,
// and one that was made in a bubble ends the program when it is used in another.
var bubbles sync.Mutex

// runInBubble is synctest.Test of a function that fails nothing. What is stuck in the bubble, or
// panics on the function's own goroutine, is an error; the rest of a bubble that is stuck
// stays behind.
func runInBubble(t *testing.T, do func(ctx context.Context) error) (err error) {
	bubbles.Lock() // of tests that run in parallel
	defer bubbles.Unlock()
	returned, heart := false, new(watchdog)
	defer heart.watch(t.Name())()
	defer func() {
		if p := recover(); p != nil {
			err = bubbleError(p, returned, err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		go heart.run(done)
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

// lingerTime is how long goroutines may still take to end when everything is closed: some look
// only now and then whether they should. It is virtual.
const lingerTime = time.Minute

// bubbleError is the error of a bubble that has panicked. Until its function has returned it does not,
// whatever waits there, for the pulse beats.
func bubbleError(p any, returned bool, err error) error {
	if !returned {
		return errors.Join(err, fmt.Errorf("there is no bubble of testing/synctest: %v", p))
	}
	return errors.Join(err, fmt.Errorf("goroutines of the lock are left behind when the run is over and its cleanup functions have returned: end them in a function given to env.Cleanup\n\n%s", bubbleGoroutines(func(string) bool { return true })))
}

// maxShownGoroutines is how many of the goroutines of a bubble are shown.
const maxShownGoroutines = 5

// durable is how the runtime marks goroutines that do not keep virtual time from going on.
const durable = "(durable)"

// bubbleMark is how the runtime marks goroutines of a bubble; its number comes behind it.
const bubbleMark = "synctest bubble "

// insideBubble reports whether the caller is in a bubble.
func insideBubble() bool {
	stack := make([]byte, 256)
	first, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "\n")
	return strings.Contains(first, bubbleMark)
}

// bubbleGoroutines tells the goroutines of the last bubble whose first lines are wanted.
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

// stallTimeout is how long, by the real clock, virtual time may stand still until the test binary
// is ended.
var stallTimeout = time.Minute

// watchdog shows whether virtual time goes on. It beats in a bubble, and is felt outside of it.
type watchdog struct{ beats atomic.Int64 }

// run counts the seconds of the bubble's time until done is closed.
func (p *watchdog) run(done <-chan struct{}) {
	for {
		select {
		case <-time.After(time.Second):
			p.beats.Add(1)
		case <-done:
			return
		}
	}
}

// watch ends the test binary if no beat comes for too long, for nothing else can end what is in
// the bubble. What it returns ends the watch.
func (p *watchdog) watch(test string) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		last, since := p.beats.Load(), time.Now()
		tick := time.NewTicker(stallTimeout / 10)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
			}
			if now := p.beats.Load(); now != last {
				last, since = now, time.Now()
			}
			if time.Since(since) > stallTimeout {
				panic(fmt.Sprintf("locktest: %s: virtual time has stood still for %v: a goroutine of the lock tries again and again without a pause, waits for something outside of the run, such as a Redis client that was not made in it, or waits for a mutex while the one that has it waits for the network, which testing/synctest does not take for waiting\n\n%s", test, stallTimeout, bubbleGoroutines(func(first string) bool { return !strings.Contains(first, durable) })))
			}
		}
	}()
	return func() { close(stopped) }
}
