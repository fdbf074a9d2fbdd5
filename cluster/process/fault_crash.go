//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = part{
	Kind: (*nemesis.Crash)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.carrier.Record(history.Event{Kind: history.NodeDown, Node: f.Crash.Node})
		w.fleet.Server(f.Crash.Node).Kill()
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		if err := w.fleet.Server(f.Crash.Node).Start(w.over); err != nil {
			return err
		}
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: f.Crash.Node, Detail: w.setting.Persistence.Keeps()})
		return nil
	},
}
