package sim

import "github.com/lockstorm/lockstorm/nemesis"

var killing = part{
	Kind: (*nemesis.Kill)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.clients[f.Kill.Client-1].kill()
		return nil
	},
}
