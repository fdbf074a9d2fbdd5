package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var cancelling = nemesis.Carry(
	func(w *World, _ int, c *nemesis.Cancel) error {
		client := w.clients[c.Client-1]
		if cancel := w.underWay.UnderWay(c.Client); cancel != nil && !client.dead {
			w.carrier.Record(history.Event{Kind: history.Cancel, Client: c.Client})
			cancel()
			client.wakeCancelled()
		}
		return nil
	},
	nil,
)
