//go:build linux

package process

import "github.com/lockstorm/lockstorm/nemesis"

var killing = fault{
	kind: (*nemesis.Kill)(nil).Kind(),
	begin: func(w *World, _ int, f *nemesis.Fault) error {
		c := w.client(f.Kill.Client)
		c.gate.kill()
		w.history.killed(c.number)
		c.finish()
		return nil
	},
}
