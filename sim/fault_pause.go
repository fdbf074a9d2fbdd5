package sim

import "github.com/lockstorm/lockstorm/nemesis"

var pausing = part{
	Kind: (*nemesis.Pause)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.clients[f.Pause.Client-1].pause()
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.clients[f.Pause.Client-1].resume()
		return nil
	},
}
