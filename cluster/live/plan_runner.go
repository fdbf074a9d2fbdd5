package live

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// planRunner runs the plan. Faults that a step triggers begin and end on the goroutine
// of the client that takes the step, those that the clock triggers on a goroutine of
// their own.
//
// mu is held while faults begin and end, except for slow ends such as the restart of a
// server: only clients that wait for the restart stand still. No goroutine waits at a
// gate while it holds mu, and mu is locked before the recorder's lock, never after.
type planRunner struct {
	world *World
	wake  chan struct{} // tells run that the next action may be due earlier

	mu        sync.Mutex
	scheduler *nemesis.Scheduler
	delayed   []delayedAction // sorted by time
	slow      []slowEnd       // ends in progress that the current step has started
}

// delayedAction is what a fault or a node does at a later time.
type delayedAction struct {
	at int64 // ground time
	do func()
}

func newPlanRunner(w *World) *planRunner {
	return &planRunner{
		world:     w,
		wake:      make(chan struct{}, 1),
		scheduler: nemesis.NewScheduler(w.setting, w.injector),
	}
}

// slowEnd is the task that ends a fault, and the fault's number.
type slowEnd struct {
	*member
	fault int
}

// step reports a client's step to the scheduler. It returns when every fault that the step
// triggers has begun or ended.
func (c *planRunner) step(client int, step env.Step, k int) {
	for _, end := range c.trigger(client, step, k) {
		<-end.gone
		c.mu.Lock()
		c.world.injector.OnBehalf(end.fault, func() { c.world.recordResume(client) })
		c.mu.Unlock()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// trigger returns the slow ends that the step has triggered. The client stands still until
// they are done, and the history records a pause: the time that a server takes to start
// is not the lock's.
func (c *planRunner) trigger(client int, step env.Step, k int) []slowEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow = nil
	if err := c.scheduler.Step(c.now(), client, step, k); err != nil {
		c.world.fail(err)
	}
	for _, end := range c.slow {
		c.world.injector.OnBehalf(end.fault, func() { c.world.recordPause(client) })
	}
	return c.slow
}

// slowEnding is the end of a fault that takes time.
type slowEnding struct {
	fault    int
	done     chan struct{} // closed when it is done or has failed
	err      error         // why it failed; read after done is closed
	heal     func()        // marks the world as healed
	recorded bool
}

// endLater ends a fault in the background: it calls do without the lock and then heal
// with the lock. The caller holds the lock.
func (c *planRunner) endLater(fault int, do func() error, heal func()) *slowEnding {
	e := &slowEnding{fault: fault, done: make(chan struct{}), heal: heal}
	m := c.world.tasks.start(fmt.Sprintf("end of fault %d", fault), func() {
		func() {
			defer close(e.done) // in any case: awaitEnd may wait for it with the lock
			e.err = do()
		}()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.finish(e)
	}, c.world.fail)
	if m == nil { // the run is over
		e.recorded = true
		close(e.done)
	} else {
		c.slow = append(c.slow, slowEnd{m, fault})
	}
	return e
}

// finish records an end that is done, once. The caller holds the lock.
func (c *planRunner) finish(e *slowEnding) {
	switch {
	case e.recorded:
	case e.err == nil:
		c.world.injector.Finish(e.fault, e.heal)
	case c.world.over.Err() == nil:
		c.world.fail(fmt.Errorf("fault %d: %w", e.fault, e.err))
	}
	e.recorded = true
}

// awaitEnd waits for an end. The caller holds the lock, so every other fault waits too. It
// is for a fault that begins on a server that is still starting.
func (c *planRunner) awaitEnd(e *slowEnding) {
	if e != nil {
		<-e.done
		c.finish(e)
	}
}

// run begins and ends faults when their time comes, until the run is over.
func (c *planRunner) run() {
	for c.world.over.Err() == nil {
		next, err := c.advance()
		if err != nil {
			c.world.fail(err)
			return
		}
		select {
		case <-next:
		case <-c.wake:
		case <-c.world.over.Done():
		}
	}
}

// advance does what is due. It returns a channel that delivers when the next action is
// due, or nil if none is planned.
func (c *planRunner) advance() (<-chan time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.delayed) > 0 && c.delayed[0].at <= c.world.ground.now() {
		m := c.delayed[0]
		c.delayed = c.delayed[1:]
		c.world.probe.saw(time.Duration(c.world.ground.now() - m.at))
		m.do()
	}
	if due, ok := c.scheduler.Next(); ok {
		c.world.probe.saw(c.now() - due) // other faults are less late
	}
	if err := c.scheduler.Advance(c.now()); err != nil {
		return nil, err
	}
	wait, ok := c.scheduler.Next()
	wait -= c.now()
	if len(c.delayed) > 0 {
		if next := time.Duration(c.delayed[0].at - c.world.ground.now()); !ok || next < wait {
			wait, ok = next, true
		}
	}
	if !ok {
		return nil, nil
	}
	return time.After(wait), nil
}

// later schedules do at a ground time. The caller holds the lock.
func (c *planRunner) later(at int64, do func()) {
	i, _ := slices.BinarySearchFunc(c.delayed, at+1, func(m delayedAction, at int64) int { return cmp.Compare(m.at, at) })
	c.delayed = slices.Insert(c.delayed, i, delayedAction{at, do})
}

// now never goes back, because it is read under the lock.
func (c *planRunner) now() time.Duration { return c.world.history.now().Sub(0) }
