package live

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// FaultHandlers lists how a backend injects faults. A backend joins the lists of
// what its servers can do: [Outages] for [Crasher]s, [Stops] for [Stopper]s, ….
type FaultHandlers = world.FaultHandlers[*World]

// Short names for the types that every file fault_*.go uses.
type (
	handler[A nemesis.Action]   = world.FaultHandler[*World, A]
	injection[A nemesis.Action] = world.Injection[A]
)

// Anywhere returns the handlers of faults that need nothing from the servers:
// faults of messages and of clients. With [nemesis.NodeClockFeature] it also
// sets the clocks of [Clocked] servers.
func Anywhere(features ...nemesis.Feature) FaultHandlers {
	clocks := world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, features...)
	return slices.Concat(messageFaults, clientFaults, clocks)
}
