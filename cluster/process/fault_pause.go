//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var pausing = part{
	Kind: (*nemesis.Pause)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.carrier.Record(history.Event{Kind: history.Pause, Client: f.Pause.Client})
		w.client(f.Pause.Client).gate.pause()
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.carrier.Record(history.Event{Kind: history.Resume, Client: f.Pause.Client})
		w.client(f.Pause.Client).gate.resume()
		return nil
	},
}
