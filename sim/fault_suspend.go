package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var suspending = world.Carry(
	func(w *World, c world.Case[*nemesis.Suspend]) error {
		client := w.clients[c.Action.Client-1]
		client.pause(nemesis.RepliesFirst)
		client.clocks[env.Monotonic].stop(w.now)
		client.clocksChanged()
		return nil
	},
	func(w *World, c world.Case[*nemesis.Suspend]) error {
		client := w.clients[c.Action.Client-1]
		client.clocks[env.Monotonic].start(w.now)
		client.clocksChanged()
		client.resume()
		return nil
	},
)
