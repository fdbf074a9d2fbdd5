//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var pausing = nemesis.Carry(
	func(w *World, _ int, p *nemesis.Pause) error {
		w.carrier.Record(history.Event{Kind: history.Pause, Client: p.Client})
		w.client(p.Client).gate.pause()
		return nil
	},
	func(w *World, _ int, p *nemesis.Pause) error {
		w.carrier.Record(history.Event{Kind: history.Resume, Client: p.Client})
		w.client(p.Client).gate.resume()
		return nil
	},
)
