package live

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ground is the ground clock: the machine's monotonic clock since the world was opened.
// Nothing changes it.
type ground struct {
	machine env.Runtime
	zero    env.Instant
}

// newGround returns the ground clock of a machine. nil is the machine of this program.
func newGround(machine env.Runtime) ground {
	if machine == nil {
		machine = env.System()
	}
	return ground{machine, machine.Now(env.Monotonic)}
}

// now returns the time in nanoseconds.
func (g ground) now() int64 { return int64(g.shows(env.Monotonic).Sub(g.zero)) }

// shows reads a clock of the machine.
func (g ground) shows(which env.Clock) env.Instant { return g.machine.Now(which) }

// instant converts a ground time to the machine's monotonic clock.
func (g ground) instant(at int64) env.Instant {
	if at > int64(env.Never)-max(int64(g.zero), 0) {
		return env.Never
	}
	return g.zero.Add(time.Duration(at))
}

// clock returns a clock that agrees with a clock of the machine now, and advances with the
// ground clock.
func (g ground) clock(which env.Clock) world.Clock {
	return world.ClockShowing(int64(g.shows(which)) - g.now())
}

// clockReadings are a client's clocks, by env.Clock.
type clockReadings [3]world.Clock

// due converts an instant of one of the clocks to the machine's monotonic clock.
func (h *clockReadings) due(g ground, which env.Clock, until env.Instant) env.Instant {
	if until == env.Never {
		return until
	}
	return g.instant(h[which].When(int64(until)))
}

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

// clockWorld is the part of a world that faults of clocks act on.
type clockWorld struct{ world *World }

// GroundTime implements [world.ClockWorld].
func (k clockWorld) GroundTime() int64 { return k.world.ground.now() }

// Missed implements [world.ClockWorld].
func (k clockWorld) Missed(m nemesis.Machine) int64 {
	if m.Client != 0 {
		return k.world.client(m.Client).clocks.missed()
	}
	return k.world.walls[m.Node-1].Behind(k.GroundTime())
}

// Change implements [world.ClockWorld].
func (k clockWorld) Change(m nemesis.Machine, which nemesis.ClockSet, how func(*world.Clock)) {
	if m.Client == 0 {
		k.world.changeWall(m.Node, how)
		return
	}
	k.world.history.clocksChange(m.Client, func() clockReadings { return k.world.client(m.Client).clocks.change(which, how) })
	k.world.host(m.Client).clocksChanged()
}

// Later implements [world.ClockWorld].
func (k clockWorld) Later(at int64, move func()) { k.world.plan.later(at, move) }

// PauseClient implements [world.ClockWorld].
func (k clockWorld) PauseClient(client int) {
	k.silence(client, true)
	k.world.check(k.world.pauseClient(client))
}

// ResumeClient implements [world.ClockWorld].
func (k clockWorld) ResumeClient(client int) {
	k.silence(client, false)
	k.world.check(k.world.resumeClient(client))
}

// silence says whether a client's machine is suspended, so that it would not answer the servers'
// either.
func (k clockWorld) silence(client int, on bool) {
	for node := 1; node <= k.world.setting.Nodes; node++ {
		k.world.network.Link(client, node).Each(nemesis.Both, func(l *wire.Direction) { l.Silence(on) })
	}
}

// changeWall changes the wall clock of a node, by which its server expires keys. Faults of
// nodes' clocks are for fleets of [Clocked] servers.
func (w *World) changeWall(node int, how func(*world.Clock)) {
	wall := &w.walls[node-1]
	how(wall)
	w.history.wallChanged(node, *wall)
	ahead := time.Duration(wall.At(w.ground.now()) - int64(w.ground.shows(env.Wall)))
	w.awaitRestart(node)
	if err := w.server(node).(Clocked).SetClock(ahead, wall.Pace()); err != nil {
		w.fail(err)
	}
}
