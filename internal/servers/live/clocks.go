package live

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ground is the machine's monotonic clock since the world was opened, which nothing here
// touches.
type ground struct {
	machine env.Runtime
	zero    env.Instant
}

// newGround begins on a machine; nil: the one that this program runs on.
func newGround(machine env.Runtime) ground {
	if machine == nil {
		machine = env.System()
	}
	return ground{machine, machine.Now(env.Monotonic)}
}

// now is the time in nanoseconds.
func (g ground) now() int64 { return int64(g.shows(env.Monotonic).Sub(g.zero)) }

// shows is what a clock of the machine shows.
func (g ground) shows(which env.Clock) env.Instant { return g.machine.Now(which) }

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
	return world.ClockShowing(int64(g.shows(which)) - g.now())
}

// clockReadings are how a client's clocks run, by env.Clock.
type clockReadings [3]world.Clock

// due is the instant of the machine's monotonic clock at which one of them comes to an
// instant of its own.
func (h *clockReadings) due(g ground, which env.Clock, until env.Instant) env.Instant {
	if until == env.Never {
		return until
	}
	return g.instant(h[which].When(int64(until)))
}

// clocks are a client's: the machine's own as they were when the world was opened, all
// run by the ground clock, and what faults do to them. A client that is a process of its
// own reads them from a page of memory that it has in common with the world: so it cannot
// go on after a fault and find a clock as it was before.
type clocks struct {
	ground ground

	mu    sync.Mutex
	hands clockReadings

	published *page // on which another process reads them; nil: none does
	source    *page // from which they are read here, for it is another process that changes them; nil: they are ours

	// era ends with the next change of a clock, or a little after it.
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

// clocksSeenOn are those that another process shows on a page.
func clocksSeenOn(p *page, g ground) *clocks {
	c := &clocks{ground: g, source: p}
	c.newEra()
	return c
}

// read returns how the clocks run, and the ground time at which they did.
func (c *clocks) read() (clockReadings, int64) {
	if c.source != nil {
		return c.source.read(c.ground.now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hands, c.ground.now()
}

// now is what a clock shows.
func (c *clocks) now(which env.Clock) env.Instant {
	h, at := c.read()
	return env.Instant(h[which].At(at))
}

// due is the instant of the machine's monotonic clock at which one of these comes to an
// instant of its own, as it runs in this era.
func (c *clocks) due(which env.Clock, until env.Instant) (machine env.Instant, era context.Context) {
	c.mu.Lock()
	era = c.era
	c.mu.Unlock()
	h, _ := c.read() // of this era or of a later one, of which we are going to hear
	return h.due(c.ground, which, until), era
}

// missed is by how much the wall clock would have run on, if it stands still.
func (c *clocks) missed() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hands[env.Wall].Behind(c.ground.now())
}

// change does something to some of them, and returns how they run then.
func (c *clocks) change(which world.ClockSelection, how func(*world.Clock)) clockReadings {
	c.mu.Lock()
	defer c.mu.Unlock()
	move := func() clockReadings {
		for _, clock := range which.Of(&c.hands[env.Wall], &c.hands[env.Monotonic], &c.hands[env.Boottime]) {
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

// publish shows the clocks on a page from now on; nil: on none any more.
func (c *clocks) publish(p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.published = p; p != nil {
		p.write(func() clockReadings { return c.hands })
	}
}

// newEra begins a new era.
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
		if err == nil || ctx.Err() != nil {
			return err
		}
		// Who stood still while the clock was changed hears of it late: the time that
		// was waited for may be over, and not be the right one any more.
		if now, _ := c.due(env.Monotonic, until); era.Err() == nil && now <= machine {
			return err
		}
	}
}

// clockWorld is the part of a world that clock faults act on.
type clockWorld struct{ world *World }

// GroundTime implements [world.Clockwork].
func (k clockWorld) GroundTime() int64 { return k.world.ground.now() }

// Missed implements [world.Clockwork].
func (k clockWorld) Missed(m nemesis.Machine) int64 {
	if m.Client != 0 {
		return k.world.client(m.Client).clocks.missed()
	}
	return k.world.walls[m.Node-1].Behind(k.GroundTime())
}

// Change implements [world.Clockwork].
func (k clockWorld) Change(m nemesis.Machine, which world.ClockSelection, how func(*world.Clock)) {
	if m.Client == 0 {
		k.world.changeWall(m.Node, how)
		return
	}
	k.world.history.clocksChange(m.Client, func() clockReadings { return k.world.client(m.Client).clocks.change(which, how) })
	k.world.host(m.Client).clocksChanged()
}

// Later implements [world.Clockwork].
func (k clockWorld) Later(at int64, move func()) { k.world.plan.later(at, move) }

// PauseClient implements [world.ClockWorld].
func (k clockWorld) PauseClient(client int) { k.world.check(k.world.pauseClient(client)) }

// ResumeClient implements [world.ClockWorld].
func (k clockWorld) ResumeClient(client int) { k.world.check(k.world.resumeClient(client)) }

// newWalls returns the wall clocks of nodes, all true.
func newWalls(g ground, nodes int) []world.Clock {
	walls := make([]world.Clock, nodes)
	for i := range walls {
		walls[i] = g.clock(env.Wall)
	}
	return walls
}

// changeWall does something to the wall clock of a node, which is the only one that its
// server lives by. Faults that befall nodes' clocks are for fleets of [Clocked] servers.
func (w *World) changeWall(node int, how func(*world.Clock)) {
	wall := &w.walls[node-1]
	how(wall)
	ahead := time.Duration(wall.At(w.ground.now()) - int64(w.ground.shows(env.Wall)))
	w.awaitRestart(node)
	if err := w.server(node).(Clocked).SetClock(ahead, wall.Pace()); err != nil {
		w.fail(err)
	}
}
