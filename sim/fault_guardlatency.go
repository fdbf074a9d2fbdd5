package sim

import "github.com/lockstorm/lockstorm/nemesis"

var slowingAccess = nemesis.Carry(
	func(w *World, number int, l *nemesis.GuardLatency) error {
		w.slowAccess(l, &extra{table: l.Add.Table(), random: w.faultStream(number)})
		return nil
	},
	func(w *World, _ int, l *nemesis.GuardLatency) error {
		w.slowAccess(l, nil)
		return nil
	},
)

func (w *World) slowAccess(l *nemesis.GuardLatency, more *extra) {
	for _, client := range nemesis.Each(l.Clients, w.setting.Clients) {
		w.network.toGuard[client-1].extra = more
	}
}
