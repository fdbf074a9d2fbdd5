package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var cancelling = world.Carry(
	func(w *World, c world.Case[*nemesis.Cancel]) error {
		if !w.dead[c.Action.Client-1] {
			w.body(c.Action.Client).cancel(c.Number)
		}
		return nil
	},
	nil,
).Opening(func(w *World, c world.Case[*nemesis.Cancel]) { w.calls.Expect(c.Action.Client) })
