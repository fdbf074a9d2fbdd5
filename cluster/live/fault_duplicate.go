package live

import (
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Duplicates is what can be done to a fleet of servers that take commands from anybody:
// the connections of copies do not say who they are, and are not encrypted.
func Duplicates() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.Duplicate]) error {
			table, draw := c.Action.After.Table(), draws(w.seed, c.Stream())
			w.copy(c.Action, func() time.Duration { return table.Draw(draw()) })
			return nil
		},
		func(w *World, c world.Case[*nemesis.Duplicate]) error {
			w.copy(c.Action, nil)
			return nil
		},
	)}
}

// copy says how much later the requests of a fault's links come once more. The links are up.
func (w *World) copy(d *nemesis.Duplicate, after func() time.Duration) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.Link(client, node).Each(nemesis.Requests, func(l *wire.Way) { l.Copy(after) })
		}
	}
}
