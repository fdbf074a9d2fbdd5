package sim

import "github.com/lockstorm/lockstorm/nemesis"

var killing = fault{
	kind:  (*nemesis.Kill)(nil).Kind(),
	begin: func(w *World, f *nemesis.Fault) { w.clients[f.Kill.Client-1].kill() },
}
