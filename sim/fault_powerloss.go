package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var losingPower = world.Carry(
	func(w *World, c world.Case[*nemesis.PowerLoss]) error {
		n := w.node(c.Action.Node)
		syncing := n.syncing
		w.goDark(n, w.setting.Persistence.KeepsWithoutPower(), c.ForGood)
		w.keepSynced(n, syncing)
		w.restartAfter(n, c.Number, c.Action.RestartDelay)
		return nil
	},
	func(w *World, c world.Case[*nemesis.PowerLoss]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature).Opening(func(w *World, c world.Case[*nemesis.PowerLoss]) {
	switch s := &w.setting; {
	case s.Persistence == nemesis.EverySecond:
		w.keepJournal(w.node(c.Action.Node)).everySecond = true
	case s.Persistence == nemesis.Always && s.Sync != nil:
		w.keepJournal(w.node(c.Action.Node))
	}
})

// keepSynced is what a machine loses without power: what was not synced. syncing
// says that a sync had not come to its end.
func (w *World) keepSynced(n *node, syncing bool) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, n.journal.synced(w.now))
	case syncing: // what it waits for was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}
