//go:build linux

package process

import "github.com/lockstorm/lockstorm/nemesis"

var killing = part{
	Kind: (*nemesis.Kill)(nil).Kind(),
	Begin: func(w *World, number int, f *nemesis.Fault) error {
		c := w.client(f.Kill.Client)
		c.gate.kill()
		w.history.killed(c.number, number)
		c.finish()
		return nil
	},
}
