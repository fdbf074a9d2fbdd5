package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// epoch is what every wall clock shows when a run begins: an arbitrary instant
// that no clock fault brings near to zero.
const epoch = int64(1_600_000_000_000_000_000)

// client is the machine of one lock user. It implements env.Runtime, env.Nodes,
// env.Register and env.Store.
type client struct {
	world      *World
	id         int
	clocks     [3]world.Clock // by env.Clock
	random     *source
	observed   digest // by its code, if points have few ways
	main       *task  // nil before the run
	activities []*activity
	unsent     []int32 // messages that it would have sent while it stood still
	paused     bool
	suspended  bool // its machine stands still, too
	dead       bool
	deferred   deferredDeliveries

	calls   int64 // that it has made
	earlier int64 // those before instant, which is the last at which it made one
	instant int64

	connected   int            // to this node, as one of the store
	connections map[uint64]int // the nodes of its sessions that are connections
	storeRounds []*round       // what it has asked the store
}

func newClient(w *World, id int) *client {
	return &client{
		world:  w,
		id:     id,
		clocks: [3]world.Clock{env.Wall: world.ClockShowing(epoch)},
		random: w.source(choice.ForClients, id, fmt.Sprintf("client %d", id)),

		activities: make([]*activity, 0, 8),

		// As ZooKeeper's clients, which shuffle their lists: so every node is the
		// way to the leader for some client, and its loss concerns somebody.
		connected: (id-1)%w.setting.Nodes + 1,
	}
}

// enter is called by every port call that can wait or send.
func (c *client) enter() *coroutine {
	if c.world.sealed {
		panic(errEnded)
	}
	c.count()
	return c.world.current
}

func (c *client) stopped() bool { return c.paused || c.dead }

// forget removes an activity that ends.
func (c *client) forget(a *activity) {
	if i := slices.Index(c.activities, a); i >= 0 {
		c.activities = slices.Delete(c.activities, i, i+1)
	}
}

// Now implements [env.Runtime]. A client that polls the clock in a loop never ends.
func (c *client) Now(which env.Clock) env.Instant {
	if !c.world.sealed {
		c.count()
	}
	return c.now(which)
}

// now reads a clock.
func (c *client) now(which env.Clock) env.Instant {
	return env.Instant(c.clocks[which].At(c.world.now))
}

// mono reads the clock on which everything waits.
func (c *client) mono() env.Instant { return c.now(env.Monotonic) }

// clocksChanged recomputes the timers that depend on the client's clocks.
func (c *client) clocksChanged() {
	c.world.catchUp()
	c.world.leaseExpiries.ClockChanged(c.world.time(), c.id)
	for _, a := range c.activities {
		if a.waits {
			a.setTimer()
		}
	}
}

// Sleep implements [env.Runtime].
func (c *client) Sleep(ctx context.Context, until env.Instant) error {
	co := c.enter()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.mono() >= until {
			return nil
		}
		co.park(ctx, until, awaitsTime)
	}
}

// Go implements [env.Runtime].
func (c *client) Go(name string, f func()) env.Task {
	c.enter()
	return c.world.start(c, name, f)
}

// Random implements [env.Runtime].
func (c *client) Random(p []byte) {
	var word [8]byte
	if len(p) == len(word) { // a token is longer
		number := c.random.Uint64()
		c.observe(number, 0)
		binary.LittleEndian.PutUint64(p, number)
		return
	}
	for len(p) > 0 {
		binary.LittleEndian.PutUint64(word[:], c.random.fixed())
		p = p[copy(p, word[:]):]
	}
}

// Reach reports a step of the client to the fault plan. If a fault pauses or kills the
// client there, Reach returns when the client resumes, or never.
func (w *World) Reach(client int, step env.Step, k int) {
	c := w.client(client)
	co := c.enter()
	w.trace.words(uint64(step), uint64(client), uint64(k))
	if err := w.scheduler.Step(time.Duration(w.now), client, step, k); err != nil {
		w.fail(err)
		co.park(context.Background(), env.Never, awaitsResumption)
	}
	for c.stopped() {
		co.wakeOnResume = true
		co.park(context.Background(), env.Never, awaitsResumption)
	}
}

// pause and resume stop and continue the client's code. Its clocks run on, and messages
// still arrive. They do nothing to a dead client.
func (c *client) pause(first nemesis.First) {
	if c.dead {
		return
	}
	c.paused = true
	c.deferred.active = first == nemesis.TimersFirst
	c.world.injector.Record(history.Event{Kind: history.Pause, Client: c.id})
}

func (c *client) resume() {
	if c.dead {
		return
	}
	c.world.injector.Record(history.Event{Kind: history.Resume, Client: c.id})
	c.paused = false
	c.deferred.active = false
	if len(c.deferred.waiting) > 0 {
		c.world.queue.push(c.world.now, deferredArrive, int32(c.id-1))
	}
	c.sendUnsent()
	for _, a := range c.activities {
		if a.wakeOnResume {
			a.wakeOnResume = false
			c.world.wake(a)
		}
	}
}

func (c *client) kill() {
	if c.dead {
		return
	}
	c.dead = true
	if c.main != nil && !c.main.done {
		c.world.running--
	}
	c.world.injector.Record(history.Event{Kind: history.Kill, Client: c.id})
	c.hangUp(func(b *backend) bool { return true })
}

// deferredDeliveries holds the replies of nodes and of the guarded resource that
// arrive while a client is paused with "first: timers". When the client resumes,
// the queue delivers them at the same instant, but after all timers.
type deferredDeliveries struct {
	active  bool // the client is in such a pause
	waiting []func()
}

// deferIfActive stores deliver during such a pause, and reports whether it did.
func (b *deferredDeliveries) deferIfActive(deliver func()) bool {
	if b.active {
		b.waiting = append(b.waiting, deliver)
	}
	return b.active
}

// deliverDeferred makes the deferred deliveries. If the client has been paused again
// meanwhile, that pause decides what happens to them.
func (c *client) deliverDeferred() {
	waiting := c.deferred.waiting
	c.deferred.waiting = nil
	for _, deliver := range waiting {
		deliver()
	}
}
