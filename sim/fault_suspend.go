package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

var suspending = nemesis.Carry(
	func(w *World, _ int, u *nemesis.Suspend) error {
		c := w.clients[u.Client-1]
		c.pause(nemesis.RepliesFirst)
		c.clocks[env.Monotonic].stop(w.now)
		c.clocksChanged()
		return nil
	},
	func(w *World, _ int, u *nemesis.Suspend) error {
		c := w.clients[u.Client-1]
		c.clocks[env.Monotonic].start(w.now)
		c.clocksChanged()
		c.resume()
		return nil
	},
)
