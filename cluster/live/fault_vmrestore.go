package live

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// VMRestores is what can be done to a fleet of [Rewinder]s that are [Clocked]. No machine is
// restored: a process stands still, out of reach, and is then given the keys of the snapshot,
// which is all of its memory that a lock can see.
func VMRestores() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.VMRestore]) error {
			w.clocks.BeginRestore(c)
			w.silence(c.Action.Node, c.Number, fmt.Sprintf("as its machine was %v before, in the same run", c.Action.Age))
			w.comebacks[c.Action.Node-1].state = time.Now().Add(-c.Action.Age)
			return w.server(c.Action.Node).(Rewinder).Stop()
		},
		func(w *World, c world.Case[*nemesis.VMRestore]) error {
			node, server := c.Action.Node, w.server(c.Action.Node)
			then := w.comebacks[node-1].state
			w.clocks.EndRestore(c)
			w.comeBack(node, c.Number, func() error {
				if err := server.(Rewinder).Rewind(w.over, then); err != nil {
					return err
				}
				return w.lead(node, server.Addr()) // it knows nothing of its connections
			}, func() {})
			return nil
		},
	).EndingLate().With(nemesis.NodeClockFeature)}
}
