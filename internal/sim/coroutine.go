package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime/debug"

	"github.com/lockstorm/lockstorm/env"
)

// coroutine runs one job of a client at a time, and is reused for the next. A job that has
// to wait parks: it says what could end the wait, yields to the event loop, and checks
// again when it is resumed. It may be resumed without a reason.
type coroutine struct {
	world  *World
	index  int32
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	client *client // whose job it runs; nil while idle
	job    func()
	task   *task

	// The wait of a parked coroutine.
	parked       bool
	waitsFor     waitReason      // for diagnostics only
	ready        bool            // it is in the world's list of those to be resumed
	wakeOnResume bool            // it would be in that list if its client could run
	until        env.Instant     // on the client's monotonic clock
	ctx          context.Context // nil: none that can end

	// timerAt is the ground time of its earliest timer in the queue. Timers
	// are not taken out when a wait ends early; one that fires in vain is set
	// anew if somebody still waits.
	timerAt int64
}

const noTimer = math.MaxInt64

// errEnded is what port calls panic with once the world has ended, to unwind
// the client's code.
var errEnded = errors.New("sim: the world has ended")

func (w *World) newCoroutine() *coroutine {
	co := &coroutine{world: w, index: int32(len(w.coroutines)), timerAt: noTimer}
	co.resume, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for {
			co.run()
			w.idle = append(w.idle, co)
			if !yield(struct{}{}) {
				return
			}
		}
	})
	w.coroutines = append(w.coroutines, co)
	return co
}

// start gives a job to an idle coroutine and schedules it.
func (w *World) start(c *client, name string, job func()) *task {
	var co *coroutine
	if last := len(w.idle) - 1; last >= 0 {
		co, w.idle = w.idle[last], w.idle[:last]
	} else {
		co = w.newCoroutine()
	}
	t := &task{client: c, name: name}
	co.client, co.job, co.task = c, job, t
	co.parked, co.waitsFor, co.until, co.ctx = true, awaitsStart, env.Never, nil
	c.coroutines = append(c.coroutines, co)
	w.limitTasks()
	w.wake(co)
	return t
}

// wake schedules a coroutine to be resumed at this instant, or when its paused client
// resumes.
func (w *World) wake(co *coroutine) {
	switch {
	case co.ready, co.client == nil: // a task may have outlived who waited for it
	case co.client.stopped():
		co.wakeOnResume = true
	default:
		co.ready = true
		w.ready = append(w.ready, co)
	}
}

// settle resumes coroutines until all of them are parked.
func (w *World) settle() {
	for i := 0; i < len(w.ready) && w.err == nil; i++ {
		co := w.ready[i]
		co.ready = false
		switch {
		case co.client == nil:
		case co.client.stopped():
			co.wakeOnResume = true
		default:
			w.step(co)
		}
	}
	w.ready = w.ready[:0]
}

// step runs one coroutine until it parks, and then wakes the coroutines of its client
// whose context has ended meanwhile: contexts do not notify the world.
func (w *World) step(co *coroutine) {
	c := co.client
	w.countStep(c)
	co.parked = false
	w.current = co
	co.resume()
	w.current = nil
	c.wakeCancelled()
}

// wakeCancelled wakes the coroutines that wait under a context which has ended.
func (c *client) wakeCancelled() {
	for _, co := range c.coroutines {
		if co.parked && co.ctx != nil && co.ctx.Err() != nil {
			c.world.wake(co)
		}
	}
}

// run runs the job and recovers its panics.
func (co *coroutine) run() {
	defer func() {
		if p := recover(); p != nil && p != errEnded { //nolint:errorlint // what was thrown, and not an error that somebody wrapped
			co.world.fail(fmt.Errorf("client %d, %s: panic: %v\n%s", co.client.id, co.task.name, p, debug.Stack()))
		}
		co.client.forget(co)
		co.task.finish()
		co.client, co.job, co.task = nil, nil, nil
	}()
	co.job()
}

// park yields until something of the awaited kind may have happened, ctx has ended, or the
// client's clock has reached until.
func (co *coroutine) park(ctx context.Context, until env.Instant, awaits waitReason) {
	co.waitsFor, co.until, co.ctx = awaits, until, nil
	if ctx.Done() != nil {
		co.ctx = ctx
	}
	co.setTimer()
	co.parked = true
	if !co.yield(struct{}{}) {
		panic(errEnded)
	}
}

// setTimer makes sure that a timer fires at the end of the wait, at the latest.
func (co *coroutine) setTimer() {
	if co.until == env.Never {
		return
	}
	at := max(co.client.clocks[env.Monotonic].When(int64(co.until)), co.world.now)
	if at < co.timerAt {
		co.timerAt = at
		co.world.queue.push(at, timerFires, co.index)
	}
}

// timer handles a timer of the coroutine.
func (co *coroutine) timer(at int64) {
	if at != co.timerAt {
		return
	}
	co.timerAt = noTimer
	if !co.parked || co.client == nil {
		return
	}
	if co.client.mono() >= co.until {
		co.world.wake(co)
		return
	}
	co.setTimer()
}

// task is a job that others can wait for.
type task struct {
	client  *client
	name    string
	done    bool
	waiters []*coroutine
}

func (t *task) finish() {
	t.done = true
	for _, co := range t.waiters {
		co.world.wake(co)
	}
	t.waiters = nil
}

// Wait implements [env.Task].
func (t *task) Wait(ctx context.Context) error {
	co := t.client.enter()
	for {
		if t.done {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t.waiters = append(t.waiters, co)
		co.park(ctx, env.Never, awaitsTask)
	}
}
