//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var killing = nemesis.Carry(
	func(w *World, _ int, k *nemesis.Kill) error {
		c := w.client(k.Client)
		c.gate.kill()
		w.carrier.Record(history.Event{Kind: history.Kill, Client: c.number})
		c.finish()
		return nil
	},
	nil,
)
