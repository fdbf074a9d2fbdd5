package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// repertoire says how each kind of fault is carried out; each has a file of
// its own, fault_*.go.
var repertoire = nemesis.Repertoire[*World]{
	crashing, partitioning, slowing, pausing, killing, clockJumping, clockRunning,
}

type part = nemesis.Part[*World]

// Faults lists the kinds of faults that a simulated world can carry out.
func Faults() []nemesis.Kind { return repertoire.Kinds() }

// carrier is the world as the nemesis sees it. What the world records while a
// fault begins or ends bears the fault's number.
type carrier struct{ world *World }

// Begin implements [nemesis.Carrier].
func (c carrier) Begin(number int, f *nemesis.Fault) error {
	c.world.cause = number
	defer func() { c.world.cause = 0 }()
	c.world.Record(&history.Event{Kind: history.FaultStart, Detail: f.Action().String()})
	return repertoire.Begin(c.world, number, f)
}

// End implements [nemesis.Carrier].
func (c carrier) End(number int, f *nemesis.Fault) error {
	c.world.cause = number
	defer func() { c.world.cause = 0 }()
	err := repertoire.End(c.world, number, f)
	c.world.Record(&history.Event{Kind: history.FaultEnd, Detail: f.Action().String()})
	return err
}
