package sim

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// faults says how each kind of fault is carried out; each has a file of its
// own, fault_*.go.
var faults = []fault{crashing, partitioning, slowing, pausing, killing, clockJumping, clockRunning}

// fault carries out one kind of fault. end is nil if the kind has no end.
type fault struct {
	kind  nemesis.Kind
	begin func(w *World, f *nemesis.Fault)
	end   func(w *World, f *nemesis.Fault)
}

// Faults lists the kinds of faults that a simulated world can carry out.
func Faults() []nemesis.Kind {
	kinds := make([]nemesis.Kind, len(faults))
	for i, f := range faults {
		kinds[i] = f.kind
	}
	return kinds
}

// carrier is the world as the nemesis sees it.
type carrier struct{ world *World }

// Begin implements [nemesis.Carrier].
func (c carrier) Begin(number int, f *nemesis.Fault) error {
	how, err := carrying(f)
	if err != nil {
		return err
	}
	c.world.Record(&history.Event{Kind: history.FaultStart, Fault: number, Detail: f.Action().String()})
	how.begin(c.world, f)
	return nil
}

// End implements [nemesis.Carrier].
func (c carrier) End(number int, f *nemesis.Fault) error {
	how, err := carrying(f)
	if err != nil {
		return err
	}
	how.end(c.world, f)
	c.world.Record(&history.Event{Kind: history.FaultEnd, Fault: number, Detail: f.Action().String()})
	return nil
}

func carrying(f *nemesis.Fault) (fault, error) {
	for _, how := range faults {
		if how.kind == f.Action().Kind() {
			return how, nil
		}
	}
	return fault{}, fmt.Errorf("sim cannot carry out a %s", f.Action().Kind())
}
