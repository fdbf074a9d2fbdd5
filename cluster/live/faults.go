package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Repertoire is how the faults of a backend are carried out.
type Repertoire = world.Repertoire[*World]

// Anywhere is what can be done whoever runs the servers: to messages, and to clients.
// With [nemesis.NodeClockFeature] it is for fleets of [Clocked] servers.
// Each has a file of its own, fault_*.go; the conductor carries out one at a time.
func Anywhere(features ...nemesis.Feature) Repertoire {
	return append(Repertoire{carrying, losing, resetting, narrowing, slowingAccess, pausing, killing, cancelling, cloning}, world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, features...)...)
}
