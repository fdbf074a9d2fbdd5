package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
)

// planRunner runs the plan. Faults that a step triggers begin and end on the goroutine
// of the client that takes the step, those that the clock triggers on a goroutine of
// their own.
//
// mu is held while faults begin and end, except for slow ends such as the restart of a
// server: only clients that wait for the restart stand still. No goroutine waits at a
// gate while it holds mu, and mu is locked before the recorder's lock, never after.
type planRunner struct {
	injector *world.Injector
	history  *recorder
	ground   ground
	tasks    *taskGroup
	probe    *probe
	over     context.Context  // ends with the run
	fail     func(error)      // ends the run
	pause    func(client int) // records one more reason to pause a client
	resume   func(client int) // and one less
	wake     chan struct{}    // tells run that the next action may be due earlier

	mu        sync.Mutex
	scheduler *world.Scheduler
	delayed   []delayedAction // sorted by time
	slow      []slowEnd       // ends in progress that the current step has started
}

// delayedAction is what a fault or a node does at a later time.
type delayedAction struct {
	at int64 // ground time
	do func()
}

// slowEnd is the task that ends a fault, and the fault's number.
type slowEnd struct {
	*goroutine
	fault int
}

// step reports a client's step to the scheduler. It returns when every fault that the step
// triggers has begun or ended.
func (p *planRunner) step(client int, step env.Step, k int) {
	for _, end := range p.trigger(client, step, k) {
		<-end.done
		p.mu.Lock()
		p.injector.OnBehalf(end.fault, func() { p.resume(client) })
		p.mu.Unlock()
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// trigger returns the slow ends that the step has triggered. The client is paused until
// they are done, and the history records that: the time that a server takes to start is not
// the lock's.
func (p *planRunner) trigger(client int, step env.Step, k int) []slowEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = nil
	if err := p.scheduler.Step(p.now(), client, step, k); err != nil {
		p.fail(err)
	}
	for _, end := range p.slow {
		p.injector.OnBehalf(end.fault, func() { p.pause(client) })
	}
	return p.slow
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
func (p *planRunner) endLater(fault int, do func() error, heal func()) *slowEnding {
	e := &slowEnding{fault: fault, done: make(chan struct{}), heal: heal}
	m := p.tasks.start(fmt.Sprintf("end of fault %d", fault), func() {
		func() {
			defer close(e.done) // in any case: awaitEnd may wait for it with the lock
			e.err = do()
		}()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.finish(e)
	}, p.fail)
	if m == nil { // the run is over
		e.recorded = true
		close(e.done)
	} else {
		p.slow = append(p.slow, slowEnd{m, fault})
	}
	return e
}

// finish records an end that is done, once. The caller holds the lock.
func (p *planRunner) finish(e *slowEnding) {
	switch {
	case e.recorded:
	case e.err == nil:
		p.injector.Finish(e.fault, e.heal)
	case p.over.Err() == nil:
		p.fail(fmt.Errorf("fault %d: %w", e.fault, e.err))
	}
	e.recorded = true
}

// awaitEnd waits for an end. The caller holds the lock, so every other fault waits too. It
// is for a fault that begins on a server that is still starting.
func (p *planRunner) awaitEnd(e *slowEnding) {
	if e != nil {
		<-e.done
		p.finish(e)
	}
}

// run begins and ends faults when their time comes, until the run is over.
func (p *planRunner) run() {
	for p.over.Err() == nil {
		next, err := p.advance()
		if err != nil {
			p.fail(err)
			return
		}
		select {
		case <-next:
		case <-p.wake:
		case <-p.over.Done():
		}
	}
}

// advance does what is due. It returns a channel that delivers when the next action is
// due, or nil if none is planned.
func (p *planRunner) advance() (<-chan time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.delayed) > 0 && p.delayed[0].at <= p.ground.now() {
		m := p.delayed[0]
		p.delayed = p.delayed[1:]
		p.probe.observe(time.Duration(p.ground.now() - m.at))
		m.do()
	}
	if due, ok := p.scheduler.Next(); ok {
		p.probe.observe(p.now() - due) // other faults are less late
	}
	if err := p.scheduler.Advance(p.now()); err != nil {
		return nil, err
	}
	wait, ok := p.scheduler.Next()
	wait -= p.now()
	if len(p.delayed) > 0 {
		if next := time.Duration(p.delayed[0].at - p.ground.now()); !ok || next < wait {
			wait, ok = next, true
		}
	}
	if !ok {
		return nil, nil
	}
	return time.After(wait), nil
}

// later schedules do at a ground time. The caller holds the lock.
func (p *planRunner) later(at int64, do func()) {
	i, _ := slices.BinarySearchFunc(p.delayed, at+1, func(m delayedAction, at int64) int { return cmp.Compare(m.at, at) })
	p.delayed = slices.Insert(p.delayed, i, delayedAction{at, do})
}

// now never goes back, because it is read under the lock.
func (p *planRunner) now() time.Duration { return p.history.now().Sub(0) }
