package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// repertoire says how each kind of fault is carried out; each has a file of
// its own, fault_*.go; what happens to clocks is the same in all worlds.
var repertoire = append(world.Repertoire[*World]{
	crashing, losingPower, shuttingDown, failingOver, restoring, restoringMachine, splitting, stopping, erring, evicting, flushingScripts,
	carrying, losing, resetting, narrowing, duplicating,
	slowingAccess,
	pausing, killing, cancelling, cloning,
}, world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, nemesis.NodeClockFeature)...)

// Faults lists the kinds of faults that a simulated world can carry out.
func Faults() []nemesis.Kind { return repertoire.Kinds() }

// disturb does something bad to one direction, or both, of every link of the
// selection, on behalf of a fault.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, how func(*lane)) {
	w.links.Disturb(which, func(client, node int) { w.network.link(client, node).each(way, how) })
}

// mend takes it back.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, how func(*lane)) {
	w.letGo(which, func(client, node int) { w.network.link(client, node).each(way, how) })
}

// Features lists the features that it has for them.
func Features() []nemesis.Feature { return repertoire.Features() }
