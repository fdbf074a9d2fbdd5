package live

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

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
	ahead := time.Duration(wall.At(w.ground.now()) - int64(w.ground.shows(env.Wall)))
	w.awaitRestart(node)
	if err := w.server(node).(Clocked).SetClock(ahead, wall.Pace()); err != nil {
		w.fail(err)
	}
}
