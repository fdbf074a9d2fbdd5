package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var cancelling = world.Carry(
	func(w *World, c world.Case[*nemesis.Cancel]) error {
		client := w.clients[c.Action.Client-1]
		if cancel := w.underWay.UnderWay(c.Action.Client); cancel != nil && !client.dead {
			w.carrier.Record(history.Event{Kind: history.Cancel, Client: c.Action.Client})
			cancel()
			client.wakeCancelled()
		}
		return nil
	},
	nil,
).Opening(func(w *World, c world.Case[*nemesis.Cancel]) { w.underWay.Expect(c.Action.Client) })
