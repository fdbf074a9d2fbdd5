//go:build linux

package process

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// faults says how each kind of fault is carried out; each has a file of its
// own, fault_*.go. The conductor calls one at a time.
var faults = []fault{crashing, partitioning, slowing, pausing, killing}

// fault carries out one kind of fault. end is nil if the kind has no end.
type fault struct {
	kind  nemesis.Kind
	begin func(w *World, number int, f *nemesis.Fault) error
	end   func(w *World, f *nemesis.Fault) error
}

// carrier is the world as the nemesis sees it.
type carrier struct{ world *World }

// Begin implements [nemesis.Carrier].
func (c carrier) Begin(number int, f *nemesis.Fault) error {
	how, err := carrying(f)
	if err != nil {
		return err
	}
	c.world.history.happened(history.Event{Kind: history.FaultStart, Fault: number, Detail: f.Action().String()})
	return named(number, f, how.begin(c.world, number, f))
}

// End implements [nemesis.Carrier].
func (c carrier) End(number int, f *nemesis.Fault) error {
	how, err := carrying(f)
	if err != nil {
		return err
	}
	if err := how.end(c.world, f); err != nil {
		return named(number, f, err)
	}
	c.world.history.happened(history.Event{Kind: history.FaultEnd, Fault: number, Detail: f.Action().String()})
	return nil
}

func carrying(f *nemesis.Fault) (fault, error) {
	for _, how := range faults {
		if how.kind == f.Action().Kind() {
			return how, nil
		}
	}
	return fault{}, fmt.Errorf("the process backend cannot carry out a %s", f.Action().Kind())
}

func named(number int, f *nemesis.Fault, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fault %d (%v): %w", number, f.Action(), err)
}
