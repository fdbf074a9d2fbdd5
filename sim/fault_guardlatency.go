package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var slowingAccess = world.Carry(
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		w.slowAccess(c.Action, &extra{table: c.Action.Add.Table(), random: stream(w.seed, c.Stream())})
		return nil
	},
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		w.slowAccess(c.Action, nil)
		return nil
	},
)

func (w *World) slowAccess(l *nemesis.GuardLatency, more *extra) {
	for _, client := range nemesis.Each(l.Clients, w.setting.Clients) {
		w.network.toGuard[client-1].extra = more
	}
}
