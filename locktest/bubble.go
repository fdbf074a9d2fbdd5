package locktest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// enter runs do, in a bubble if time is virtual on the backend. An error of a bubble names
// places in the user's code.
func (w backendInfo) enter(t *testing.T, code userCode, do func(ctx context.Context) error) error {
	if !w.bubble {
		return do(t.Context())
	}
	return runInBubble(t, code, do)
}

// within returns what reports whether the calling goroutine belongs to a run. Goroutines of a bubble
// can be told apart from others. On real servers any goroutine may belong to the run.
func (w backendInfo) within() func() bool {
	if w.bubble {
		return insideBubble
	}
	return func() bool { return true }
}

// bubbles allows one bubble at a time. Client libraries keep timers for the whole program,
// and a timer that was made in one bubble crashes the program when it is used in another.
var bubbles sync.Mutex

// runInBubble runs do in a bubble without failing the test. If goroutines of the bubble are
// left, or do panics, it returns an error. The goroutines of a failed bubble are leaked.
//
// If virtual time stands still, it returns a [stallError], and do and its bubble are
// abandoned: Go has no way to end a goroutine from outside. Whatever do writes must not be
// read then.
func runInBubble(t *testing.T, code userCode, do func(ctx context.Context) error) error {
	bubbles.Lock() // of tests that run in parallel
	defer bubbles.Unlock()
	if err := stalls.exhausted(); err != nil {
		return err
	}
	dog, over := new(watchdog), make(chan error, 1)
	go func() {
		err := errors.New("the run was ended by t.FailNow")
		defer func() { over <- err }()
		err = bubble(t, dog, code, do)
	}()
	return dog.await(over, code)
}

// bubble is runInBubble without a limit of the time for which virtual time may stand still.
func bubble(t *testing.T, dog *watchdog, code userCode, do func(ctx context.Context) error) (err error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			err = bubbleError(p, returned, code, err)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go dog.run(done, stop)
		defer func() {
			returned = true
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		err = do(ctx)
		time.Sleep(lingerTime)
	})
	return err
}

// lingerTime is how long goroutines may take to end after everything is closed, in virtual
// time. Some check only now and then whether they should end.
const lingerTime = time.Minute

// bubbleError returns the error of a bubble that has panicked. While its function runs that
// cannot be a deadlock, because the watchdog's goroutine always wakes.
func bubbleError(p any, returned bool, code userCode, err error) error {
	if !returned {
		return errors.Join(err, fmt.Errorf("cannot start a bubble of testing/synctest: %v", p))
	}
	left := newestBubble()
	what := "goroutines of the lock are left behind after the run and its cleanup functions: end them in a function passed to env.Cleanup"
	if slices.ContainsFunc(left, goroutine.calls) {
		what = "the calls that have not returned wait here:" // and may have left other goroutines behind
		left = slices.DeleteFunc(left, func(g goroutine) bool { return !g.calls() })
	}
	return errors.Join(err, fmt.Errorf("%s%s", what, stacks(left, code)))
}

// insideBubble reports whether the caller is in a bubble.
func insideBubble() bool {
	stack := make([]byte, 256)
	first, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "\n")
	return strings.Contains(first, bubbleMark)
}
