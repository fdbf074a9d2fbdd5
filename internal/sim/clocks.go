package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Ground returns the time of the world itself.
func (w *World) Ground() history.Time { return w.time() }

// ClientClock returns what a clock of the client shows.
func (w *World) ClientClock(client int, which env.Clock) env.Instant {
	return w.client(client).now(which)
}

// NodeClock returns what the wall clock of the node shows.
func (w *World) NodeClock(node int) env.Instant { return env.Instant(w.node(node).wall.At(w.now)) }

// clockWorld is the part of the world that clock faults act on.
type clockWorld struct{ world *World }

// GroundTime implements [world.ClockWorld].
func (k clockWorld) GroundTime() int64 { return k.world.now }

// Missed implements [world.ClockWorld].
func (k clockWorld) Missed(m nemesis.Machine) int64 {
	return k.clocks(m, nemesis.WallClock)[0].Behind(k.world.now)
}

// Change implements [world.ClockWorld]. First it processes the timers that are due by the clocks
// before the change.
func (k clockWorld) Change(m nemesis.Machine, which nemesis.ClockSet, how func(*world.Clock)) {
	k.world.catchUp()
	for _, c := range k.clocks(m, which) {
		how(c)
	}
	if m.Client != 0 {
		k.world.client(m.Client).clocksChanged()
	} else {
		k.world.clockChanged(k.world.node(m.Node))
	}
}

// clocks returns the selected clocks of a machine. A node has two: keys expire by its wall
// clock, and sessions of a store by its monotonic clock.
func (k clockWorld) clocks(m nemesis.Machine, which nemesis.ClockSet) []*world.Clock {
	if m.Client == 0 {
		n := k.world.node(m.Node)
		if heir := n.peer; heir != nil {
			return append(world.Select(which, &n.wall, &n.mono), world.Select(which, &heir.wall, &heir.mono)...)
		}
		return world.Select(which, &n.wall, &n.mono)
	}
	clocks := &k.world.client(m.Client).clocks
	return world.Select(which, &clocks[env.Wall], &clocks[env.Monotonic], &clocks[env.Boottime])
}

// Later implements [world.ClockWorld].
func (k clockWorld) Later(at int64, move func()) { k.world.moveLater(at, move) }

// PauseClient implements [world.ClockWorld].
func (k clockWorld) PauseClient(client int) {
	c := k.world.client(client)
	c.suspended = true
	c.pause(nemesis.RepliesFirst)
}

// ResumeClient implements [world.ClockWorld].
func (k clockWorld) ResumeClient(client int) {
	c := k.world.client(client)
	c.suspended = false
	c.resume()
}

// Watch makes the world record a lapse when the client's clock first reaches until.
// It replaces an earlier request for the same token.
func (w *World) Watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	if !w.sealed {
		w.catchUp()
		w.leaseExpiries.Watch(w.time(), client, clock, resource, token, until)
	}
}

// Unwatch cancels the request for the token, unless the lease has expired.
func (w *World) Unwatch(client int, token string) {
	if !w.sealed {
		w.catchUp()
		w.leaseExpiries.Unwatch(w.time(), client, token)
	}
}

// expiryTime returns when the client's clock reaches until, or since when it has shown at least that.
func (w *World) expiryTime(client int, clock env.Clock, until env.Instant) history.Time {
	return history.Time(w.client(client).clocks[clock].Reached(int64(until)))
}
