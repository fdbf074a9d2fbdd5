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

// conducting carries the plan out: what a step triggers, on the goroutine of
// the client that takes it, and what the clock triggers, on one of its own.
//
// Its lock is held while faults begin and end, but for ends that take long, as that of
// a server takes that starts again: nobody but who waits for it shall stand still
// meanwhile. Nobody waits at a gate while holding it, and it is taken before the
// recorder's lock, never after.
type conducting struct {
	world  *World
	sooner chan struct{} // the next turn may have come nearer

	mu        sync.Mutex
	scheduler *nemesis.Scheduler
	moves     []move    // that are still to come, by time
	slow      []slowEnd // that have been set going and have not come, as far as anybody has to wait for them
}

// move is what a fault, or a node, goes on with by itself.
type move struct {
	at int64 // ground time
	do func()
}

func newConducting(w *World) *conducting {
	return &conducting{
		world:     w,
		sooner:    make(chan struct{}, 1),
		scheduler: nemesis.NewScheduler(w.setting, w.injector),
	}
}

// slowEnd is the end of a fault while it is being brought about.
type slowEnd struct {
	*member
	fault int
}

// step tells the scheduler of a client's step, and returns when what the step has
// triggered has come.
func (c *conducting) step(client int, step env.Step, k int) {
	for _, end := range c.take(client, step, k) {
		<-end.gone
		c.mu.Lock()
		c.world.injector.OnBehalf(end.fault, func() { c.world.goesOn(client) })
		c.mu.Unlock()
	}
	select {
	case c.sooner <- struct{}{}:
	default:
	}
}

// take returns the slow ends that the step has triggered. The client stands still until
// they have come, and the history says so: what a server takes to start is no time that
// the lock has taken.
func (c *conducting) take(client int, step env.Step, k int) []slowEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow = nil
	if err := c.scheduler.Step(c.now(), client, step, k); err != nil {
		c.world.fail(err)
	}
	for _, end := range c.slow {
		c.world.injector.OnBehalf(end.fault, func() { c.world.stands(client) })
	}
	return c.slow
}

// ending is the end of a fault that takes its time.
type ending struct {
	fault int
	gone  chan struct{} // closed when it has come, or cannot
	err   error         // why it cannot; to be read after gone
	come  func()        // what there is to tell
	told  bool
}

// end lets the end of a fault take its time: do brings it about without the lock, and
// come, with it, is what there is to tell then. It is called with the lock held.
func (c *conducting) end(fault int, do func() error, come func()) *ending {
	e := &ending{fault: fault, gone: make(chan struct{}), come: come}
	m := c.world.crew.start(fmt.Sprintf("end of fault %d", fault), func() {
		func() {
			defer close(e.gone) // whatever happens: somebody may wait for it with the lock
			e.err = do()
		}()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tell(e)
	}, c.world.fail)
	if m == nil { // the run is over
		e.told = true
		close(e.gone)
	} else {
		c.slow = append(c.slow, slowEnd{m, fault})
	}
	return e
}

// tell tells that an end has come, unless that has been told. It is called with the lock
// held.
func (c *conducting) tell(e *ending) {
	switch {
	case e.told:
	case e.err == nil:
		c.world.injector.Finish(e.fault, e.come)
	case c.world.over.Err() == nil:
		c.world.fail(fmt.Errorf("fault %d: %w", e.fault, e.err))
	}
	e.told = true
}

// await waits for an end. It is called with the lock held, and holds everybody up: it is
// for a fault that begins with the same server while that is still coming back.
func (c *conducting) await(e *ending) {
	if e != nil {
		<-e.gone
		c.tell(e)
	}
}

// run begins and ends what is due by the clock, until the run is over.
func (c *conducting) run() {
	for c.world.over.Err() == nil {
		next, err := c.advance()
		if err != nil {
			c.world.fail(err)
			return
		}
		select {
		case <-next:
		case <-c.sooner:
		case <-c.world.over.Done():
		}
	}
}

// advance does what is due and returns a channel that delivers at the next
// turn, if there is one.
func (c *conducting) advance() (<-chan time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.moves) > 0 && c.moves[0].at <= c.world.ground.now() {
		m := c.moves[0]
		c.moves = c.moves[1:]
		c.world.probe.saw(time.Duration(c.world.ground.now() - m.at))
		m.do()
	}
	if due, ok := c.scheduler.Next(); ok {
		c.world.probe.saw(c.now() - due) // the others are less late
	}
	if err := c.scheduler.Advance(c.now()); err != nil {
		return nil, err
	}
	wait, ok := c.scheduler.Next()
	wait -= c.now()
	if len(c.moves) > 0 {
		if next := time.Duration(c.moves[0].at - c.world.ground.now()); !ok || next < wait {
			wait, ok = next, true
		}
	}
	if !ok {
		return nil, nil
	}
	return time.After(wait), nil
}

// later does something at a ground time. It is called with the lock held.
func (c *conducting) later(at int64, do func()) {
	i, _ := slices.BinarySearchFunc(c.moves, at+1, func(m move, at int64) int { return cmp.Compare(m.at, at) })
	c.moves = slices.Insert(c.moves, i, move{at, do})
}

// now never goes back, because it is read under the lock.
func (c *conducting) now() time.Duration { return c.world.history.now().Sub(0) }
