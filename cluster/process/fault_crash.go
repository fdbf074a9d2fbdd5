//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = nemesis.Carry(
	func(w *World, _ int, c *nemesis.Crash) error {
		w.carrier.Record(history.Event{Kind: history.NodeDown, Node: c.Node})
		w.fleet.Server(c.Node).Kill()
		return nil
	},
	func(w *World, _ int, c *nemesis.Crash) error {
		if err := w.fleet.Server(c.Node).Start(w.over); err != nil {
			return err
		}
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: c.Node, Detail: w.setting.Persistence.Keeps()})
		return nil
	},
)
