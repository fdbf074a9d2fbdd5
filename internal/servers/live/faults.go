package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
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

// recordPause counts one more reason to pause a client, and recordResume one less. The
// client resumes when the last reason is gone. Callers hold the lock of [planRunner].
func (w *World) recordPause(client int) {
	if w.standing[client-1]++; w.standing[client-1] == 1 {
		w.injector.Record(history.Event{Kind: history.Pause, Client: client})
	}
}

func (w *World) recordResume(client int) {
	if w.standing[client-1]--; w.standing[client-1] == 0 {
		w.injector.Record(history.Event{Kind: history.Resume, Client: client})
	}
}

// untouched changes nothing about a link. It is for faults that affect only the node
// behind the link.
func untouched(int, int) {}

// disturb applies change to one direction, or both, of every selected link, on behalf of
// a fault that begins.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, change func(*wire.Direction)) {
	w.links.Disturb(which, func(client, node int) { w.network.Link(client, node).Each(way, change) })
}

// mend applies restore to them when the fault ends.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, restore func(*wire.Direction)) {
	w.links.Mend(which, func(client, node int) { w.network.Link(client, node).Each(way, restore) })
}
