package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockJumping = part{
	Kind: (*nemesis.ClockJump)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.wallClock(f.ClockJump.Node, f.ClockJump.Client).jump(w.now, int64(f.ClockJump.By))
		return nil
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
