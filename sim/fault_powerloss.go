package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var losingPower = world.Carry(
	func(w *World, c world.Case[*nemesis.PowerLoss]) error {
		n := w.node(c.Action.Node)
		syncing := n.syncing
		if c.Action.TornTail == nemesis.TornRefuse {
			w.goDown(n, "")
		} else {
			w.goDark(n, w.setting.Persistence.KeepsWithoutPower(), c.ForGood)
		}
		w.keepSynced(n, syncing, c.Action.StuckSync)
		w.restartAfter(n, c.Number, c.Action.RestartDelay)
		return nil
	},
	func(w *World, c world.Case[*nemesis.PowerLoss]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature, nemesis.StuckSyncFeature, nemesis.TornRefuseFeature).Opening(func(w *World, c world.Case[*nemesis.PowerLoss]) {
	switch s := &w.setting; {
	case s.Persistence == nemesis.EverySecond:
		j := w.keepJournal(w.node(c.Action.Node))
		j.everySecond, j.stuck = true, max(j.stuck, int64(c.Action.StuckSync))
	case s.Persistence == nemesis.Always && s.Sync != nil:
		w.keepJournal(w.node(c.Action.Node))
	}
})

// keepSynced is what a machine loses without power: what was not synced. syncing
// says that a sync had not come to its end; stuck is how long the disk has completed
// none. A record that the power loss has cut was not synced, so a server that loads
// what is before it has lost nothing by the cut.
func (w *World) keepSynced(n *node, syncing bool, stuck time.Duration) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, n.journal.synced(w.now-int64(stuck)))
	case syncing: // what it waits for was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}
