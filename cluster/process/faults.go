//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// repertoire says how each kind of fault is carried out; each has a file of
// its own, fault_*.go. The conductor carries out one at a time.
var repertoire = nemesis.Repertoire[*World]{crashing, partitioning, slowing, pausing, killing}

type part = nemesis.Part[*World]

// carrier is the world as the nemesis sees it.
type carrier struct{ world *World }

// Begin implements [nemesis.Carrier].
func (c carrier) Begin(number int, f *nemesis.Fault) error {
	c.world.history.happened(history.Event{Kind: history.FaultStart, Fault: number, Detail: f.Action().String()})
	return repertoire.Begin(c.world, number, f)
}

// End implements [nemesis.Carrier].
func (c carrier) End(number int, f *nemesis.Fault) error {
	err := repertoire.End(c.world, number, f)
	if err == nil {
		c.world.history.happened(history.Event{Kind: history.FaultEnd, Fault: number, Detail: f.Action().String()})
	}
	return err
}
