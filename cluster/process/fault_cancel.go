//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// cancelling tells first, because the call may return at once.
var cancelling = nemesis.Carry(
	func(w *World, _ int, c *nemesis.Cancel) error {
		if cancel := w.calls.UnderWay(c.Client); cancel != nil {
			w.carrier.Record(history.Event{Kind: history.Cancel, Client: c.Client})
			cancel()
		}
		return nil
	},
	nil,
)
