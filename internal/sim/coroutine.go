package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/lockstorm/lockstorm/env"
)

// coroutine runs the jobs of an activity, one after another. A job that has to wait parks:
// it yields to the event loop, and checks again when it is resumed.
type coroutine struct {
	*activity
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	job      func()
	task     *task
	draining *round // that the job waits for; nil: none
}

// errEnded is what port calls panic with once the world has ended, to unwind
// the client's code.
var errEnded = errors.New("sim: the world has ended")

func newCoroutine(a *activity) *coroutine {
	co := &coroutine{activity: a}
	co.resume, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for {
			co.run()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return co
}

// start begins a job of a client.
func (w *World) start(c *client, name string, job func()) *task {
	a := w.idleActivity()
	if a.coroutine == nil {
		a.coroutine = newCoroutine(a)
	}
	co := a.coroutine
	co.job, co.task = job, w.tasks.next()
	co.task.client = c
	a.begin(c, name, co)
	return co.task
}

// act implements [actor]: it runs the coroutine until it parks.
func (co *coroutine) act() {
	if r := co.draining; r != nil && !r.handOver() {
		co.wait(r.giveUp, awaitsReply)
		return
	}
	c := co.client
	co.world.current = co
	co.resume()
	co.world.current = nil
	c.wakeCancelled()
}

// run runs the job and recovers its panics.
func (co *coroutine) run() {
	defer func() {
		if p := recover(); p != nil && p != errEnded { //nolint:errorlint // what was thrown, and not an error that somebody wrapped
			co.world.fail(fmt.Errorf("client %d, %s: panic: %v\n%s", co.client.id, co.name, p, debug.Stack()))
		}
		t := co.task
		co.job, co.task = nil, nil
		co.end()
		t.finish()
	}()
	co.job()
}

// park yields until something of the awaited kind may have happened, ctx has ended, or the
// client's clock has reached until.
func (co *coroutine) park(ctx context.Context, until env.Instant, awaits waitReason) {
	co.ctx = nil
	if ctx.Done() != nil {
		co.ctx = ctx
	}
	co.wait(until, awaits)
	if !co.yield(struct{}{}) {
		panic(errEnded)
	}
}

// task is a job that others can wait for.
type task struct {
	client  *client
	done    bool
	waiters []*coroutine
}

func (t *task) finish() {
	t.done = true
	for _, co := range t.waiters {
		co.world.wake(co.activity)
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

// halt stops a coroutine in a run that has ended. It does not return.
func (co *coroutine) halt() {
	for {
		co.park(context.Background(), env.Never, awaitsEnd)
	}
}
