package live

import (
	"context"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// clocks are the clocks of a client. They start as the machine's when the world is opened,
// advance with the ground clock, and are changed by faults. A client in its own process
// reads them from a page of shared memory, so it cannot miss a change that was made while
// it was stopped.
type clocks struct {
	ground ground

	mu    sync.Mutex
	hands clockReadings

	published *page // the page where another process reads the clocks, or nil
	source    *page // the page from which this process reads the clocks of another one, or nil

	// era ends when a clock changes, or shortly after.
	era    context.Context
	finish context.CancelFunc
}

func newClocks(g ground) *clocks {
	c := &clocks{ground: g}
	c.hands[env.Wall], c.hands[env.Boottime] = g.clock(env.Wall), g.clock(env.Boottime)
	c.hands[env.Monotonic] = world.ClockShowing(int64(g.zero))
	c.newEra()
	return c
}

// clocksSeenOn returns the clocks that another process writes to a page.
func clocksSeenOn(p *page, g ground) *clocks {
	c := &clocks{ground: g, source: p}
	c.newEra()
	return c
}

// read returns the clocks, and the ground time at which they were read.
func (c *clocks) read() (clockReadings, int64) {
	if c.source != nil {
		return c.source.read(c.ground.now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hands, c.ground.now()
}

// now reads a clock.
func (c *clocks) now(which env.Clock) env.Instant {
	h, at := c.read()
	return env.Instant(h[which].At(at))
}

// due converts an instant of one of the clocks to the machine's monotonic clock. The result
// is valid during the returned era.
func (c *clocks) due(which env.Clock, until env.Instant) (machine env.Instant, era context.Context) {
	c.mu.Lock()
	era = c.era
	c.mu.Unlock()
	h, _ := c.read() // of this era, or of a later one: then the returned era ends soon
	return h.due(c.ground, which, until), era
}

// missed returns how much the wall clock would have advanced if it stands still.
func (c *clocks) missed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hands[env.Wall].Behind(c.ground.now())
}

// change applies how to the selected clocks and returns all clocks.
func (c *clocks) change(which nemesis.ClockSet, how func(*world.Clock)) clockReadings {
	c.mu.Lock()
	defer c.mu.Unlock()
	move := func() clockReadings {
		for _, clock := range world.Select(which, &c.hands[env.Wall], &c.hands[env.Monotonic], &c.hands[env.Boottime]) {
			how(clock)
		}
		return c.hands
	}
	if c.published != nil {
		c.published.write(move)
	} else {
		move()
	}
	c.newEraLocked()
	return c.hands
}

// publish writes the clocks to a page from now on. nil ends that.
func (c *clocks) publish(p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.published = p; p != nil {
		p.write(func() clockReadings { return c.hands })
	}
}

// newEra ends the era and begins a new one.
func (c *clocks) newEra() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newEraLocked()
}

func (c *clocks) newEraLocked() {
	if c.finish != nil {
		c.finish()
	}
	c.era, c.finish = context.WithCancel(context.Background())
}

// wait calls do to wait until the client's monotonic clock reaches until. do gets that
// instant on the machine's clock. When a clock changes, the context of do ends and wait
// calls it again.
func (c *clocks) wait(ctx context.Context, until env.Instant, do func(ctx context.Context, machine env.Instant) error) error {
	for {
		machine, era := c.due(env.Monotonic, until)
		waiting, stop := context.WithCancel(ctx)
		atChange := context.AfterFunc(era, stop)
		err := do(waiting, machine)
		atChange()
		stop()
		if err == nil || ctx.Err() != nil {
			return err
		}
		// A client that was stopped while its clock changed learns of that late: the
		// time that it waited for may be over and no longer be the right one.
		if now, _ := c.due(env.Monotonic, until); era.Err() == nil && now <= machine {
			return err
		}
	}
}
