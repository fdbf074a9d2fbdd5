//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var killing = part{
	Kind: (*nemesis.Kill)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		c := w.client(f.Kill.Client)
		c.gate.kill()
		w.carrier.Record(history.Event{Kind: history.Kill, Client: c.number})
		c.finish()
		return nil
	},
}
