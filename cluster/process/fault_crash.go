//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = part{
	Kind: (*nemesis.Crash)(nil).Kind(),
	Begin: func(w *World, number int, f *nemesis.Fault) error {
		w.history.happened(history.Event{Kind: history.NodeDown, Fault: number, Node: f.Crash.Node})
		w.fleet.Server(f.Crash.Node).Kill()
		return nil
	},
	End: func(w *World, number int, f *nemesis.Fault) error {
		if err := w.fleet.Server(f.Crash.Node).Start(w.over); err != nil {
			return err
		}
		w.history.happened(history.Event{Kind: history.NodeUp, Fault: number, Node: f.Crash.Node, Detail: w.setting.Persistence.Keeps()})
		return nil
	},
}
