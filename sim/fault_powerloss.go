package sim

import "github.com/lockstorm/lockstorm/nemesis"

var losingPower = nemesis.Carry(
	func(w *World, number int, p *nemesis.PowerLoss) error {
		n := w.node(p.Node)
		syncing := n.syncing
		w.goDark(n, w.setting.Persistence.KeepsWithoutPower(), p.RestartDelay == 0 && w.endless(number))
		w.keepSynced(n, number, syncing)
		w.restartAfter(n, number, p.RestartDelay)
		return nil
	},
	func(w *World, _ int, p *nemesis.PowerLoss) error {
		w.comeUp(w.node(p.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature)

// keepSynced is what a machine loses without power: what was not synced. syncing
// says that a sync had not come to its end.
func (w *World) keepSynced(n *node, fault int, syncing bool) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n, fault)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, n.journal.synced(w.now))
	case syncing: // what it waits for was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}
