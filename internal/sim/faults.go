package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Short names for the types that every file fault_*.go uses.
type (
	handlers                    = world.FaultHandlers[*World]
	handler[A nemesis.Action]   = world.FaultHandler[*World, A]
	injection[A nemesis.Action] = world.Injection[A]
)

// faultHandlers lists the handler of every kind of fault. Each topic has a file
// fault_*.go. Clock faults are handled in package world, alike for all worlds.
var faultHandlers = slices.Concat(
	nodeFaults, rollbackFaults, keyFaults, messageFaults, connectionFaults, clientFaults,
	world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, nemesis.NodeClockFeature),
)

// Faults lists the kinds of faults that a simulated world can inject.
func Faults() []nemesis.Kind { return faultHandlers.Kinds() }

// Features lists the features of those kinds that it supports.
func Features() []nemesis.Feature { return faultHandlers.Features() }

// disturb applies change to one direction, or both, of every selected link, on
// behalf of a fault that begins.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, change func(*linkDirection)) {
	w.links.Disturb(which, func(client, node int) { w.network.link(client, node).each(way, change) })
}

// mend applies restore to them when the fault ends.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, restore func(*linkDirection)) {
	w.letGo(which, func(client, node int) { w.network.link(client, node).each(way, restore) })
}
