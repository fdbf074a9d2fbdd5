package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockJumping = fault{
	kind: (*nemesis.ClockJump)(nil).Kind(),
	begin: func(w *World, f *nemesis.Fault) {
		w.wallClock(f.ClockJump.Node, f.ClockJump.Client).jump(w.now, int64(f.ClockJump.By))
	},
}

// wallClock returns the wall clock of a client, or of a node if there is no
// client.
func (w *World) wallClock(node, client int) *clock {
	if client != 0 {
		return &w.clients[client-1].wall
	}
	return &w.nodes[node-1].wall
}
