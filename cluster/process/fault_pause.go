//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var pausing = fault{
	kind: (*nemesis.Pause)(nil).Kind(),
	begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.history.happened(history.Event{Kind: history.Pause, Client: f.Pause.Client})
		w.client(f.Pause.Client).gate.pause()
		return nil
	},
	end: func(w *World, f *nemesis.Fault) error {
		w.history.happened(history.Event{Kind: history.Resume, Client: f.Pause.Client})
		w.client(f.Pause.Client).gate.resume()
		return nil
	},
}
