package live

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
)

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
