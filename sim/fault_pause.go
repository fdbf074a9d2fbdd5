package sim

import "github.com/lockstorm/lockstorm/nemesis"

var pausing = fault{
	kind:  (*nemesis.Pause)(nil).Kind(),
	begin: func(w *World, f *nemesis.Fault) { w.clients[f.Pause.Client-1].pause() },
	end:   func(w *World, f *nemesis.Fault) { w.clients[f.Pause.Client-1].resume() },
}
