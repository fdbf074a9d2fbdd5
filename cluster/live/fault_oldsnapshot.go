package live

import (
	"fmt"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// OldSnapshots is what can be done to a fleet of [Restorer]s.
func OldSnapshots() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.OldSnapshot]) error {
			w.goDown(c.Action.Node, fmt.Sprintf("with the keys of a snapshot %v old", c.Action.Age))
			return w.server(c.Action.Node).(Restorer).Restore(c.Action.Age)
		},
		func(w *World, c world.Case[*nemesis.OldSnapshot]) error {
			w.comeUp(c.Action.Node, c.Number)
			return nil
		},
	).EndingLate()}
}
