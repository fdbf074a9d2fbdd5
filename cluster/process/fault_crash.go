//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = fault{
	kind: (*nemesis.Crash)(nil).Kind(),
	begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.history.happened(history.Event{Kind: history.NodeDown, Node: f.Crash.Node})
		w.fleet.Server(f.Crash.Node).Kill()
		return nil
	},
	end: func(w *World, f *nemesis.Fault) error {
		if err := w.fleet.Server(f.Crash.Node).Start(w.over); err != nil {
			return err
		}
		w.history.happened(history.Event{Kind: history.NodeUp, Node: f.Crash.Node})
		return nil
	},
}
