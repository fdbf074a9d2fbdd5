package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// cancelling tells first, because the call may return at once.
var cancelling = world.Carry(
	func(w *World, c world.Case[*nemesis.Cancel]) error {
		if cancel := w.calls.UnderWay(c.Action.Client); cancel != nil {
			w.carrier.Record(history.Event{Kind: history.Cancel, Client: c.Action.Client})
			cancel()
		}
		return nil
	},
	nil,
).Opening(func(w *World, c world.Case[*nemesis.Cancel]) { w.calls.Expect(c.Action.Client) })
