package live

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// ground is the machine's CLOCK_MONOTONIC since the world was opened, which nothing here
// touches.
type ground struct{ zero env.Instant }

func newGround() ground { return ground{env.System().Now(env.Monotonic)} }

// now is the time in nanoseconds.
func (g ground) now() int64 { return int64(env.System().Now(env.Monotonic).Sub(g.zero)) }

// instant is the machine's reading at a ground time.
func (g ground) instant(at int64) env.Instant {
	if at > int64(env.Never)-max(int64(g.zero), 0) {
		return env.Never
	}
	return g.zero.Add(time.Duration(at))
}

// clock is one that shows what a clock of the machine shows, and runs by the ground clock
// from now on.
func (g ground) clock(which env.Clock) world.Clock {
	return world.ClockShowing(int64(env.System().Now(which)) - g.now())
}

// clocks are a client's: the machine's own as they were when the world was opened, all
// run by the ground clock, and what faults do to them.
type clocks struct {
	ground ground

	mu   sync.Mutex
	each [3]world.Clock // by env.Clock

	// era ends with the next change of a clock.
	era    context.Context
	finish context.CancelFunc
}

func newClocks(g ground) *clocks {
	c := &clocks{ground: g}
	c.each[env.Wall], c.each[env.Boottime] = g.clock(env.Wall), g.clock(env.Boottime)
	c.each[env.Monotonic] = world.ClockShowing(int64(g.zero))
	c.era, c.finish = context.WithCancel(context.Background())
	return c
}

// now is what a clock shows.
func (c *clocks) now(which env.Clock) env.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return env.Instant(c.each[which].At(c.ground.now()))
}

// due is the instant of the machine's monotonic clock at which one of these comes to an
// instant of its own, as it runs in this era.
func (c *clocks) due(which env.Clock, until env.Instant) (machine env.Instant, era context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until == env.Never {
		return until, c.era
	}
	return c.ground.instant(c.each[which].When(int64(until))), c.era
}

// missed is by how much the wall clock would have run on, if it stands still.
func (c *clocks) missed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.each[env.Wall].Behind(c.ground.now())
}

// change does something to some of them.
func (c *clocks) change(which world.Hands, how func(*world.Clock)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, clock := range which.Of(&c.each[env.Wall], &c.each[env.Monotonic], &c.each[env.Boottime]) {
		how(clock)
	}
	c.finish()
	c.era, c.finish = context.WithCancel(context.Background())
}

// wait lets do wait until the client's monotonic clock comes to an instant, which do is
// told as one of the machine's. If a clock changes meanwhile do has to end, and is let
// wait once more.
func (c *clocks) wait(ctx context.Context, until env.Instant, do func(ctx context.Context, machine env.Instant) error) error {
	for {
		machine, era := c.due(env.Monotonic, until)
		waiting, stop := context.WithCancel(ctx)
		atChange := context.AfterFunc(era, stop)
		err := do(waiting, machine)
		atChange()
		stop()
		if err == nil || ctx.Err() != nil || era.Err() == nil {
			return err
		}
	}
}

// clockwork is a world as far as what happens to its clocks goes.
type clockwork struct{ world *World }

// GroundTime implements [world.Clockwork].
func (k clockwork) GroundTime() int64 { return k.world.ground.now() }

// Missed implements [world.Clockwork].
func (k clockwork) Missed(m nemesis.Machine) int64 {
	if m.Client != 0 {
		return k.world.client(m.Client).clocks.missed()
	}
	return k.world.walls[m.Node-1].Behind(k.GroundTime())
}

// Change implements [world.Clockwork].
func (k clockwork) Change(m nemesis.Machine, which world.Hands, how func(*world.Clock)) {
	if m.Client == 0 {
		k.world.changeWall(m.Node, how)
		return
	}
	k.world.history.clocksChange(m.Client, func() { k.world.client(m.Client).clocks.change(which, how) })
}

// Later implements [world.Clockwork].
func (k clockwork) Later(at int64, move func()) { k.world.nemesis.later(at, move) }

// Halt implements [world.Clockwork].
func (k clockwork) Halt(client int) { k.world.halt(client) }

// Proceed implements [world.Clockwork].
func (k clockwork) Proceed(client int) { k.world.proceed(client) }
