package live

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Companion is a process that does a part of what a client does: a program that has the client's
// lock, while the work under it is a goroutine of this program. It is an alias, because it is the
// runner's ClientProcess, which this package does not know.
type Companion = interface {
	Pause() error
	Resume() error
	Kill()
	SetClock(ahead time.Duration) error
	Leave()
}

// SetsClock reports whether a fault of the plan changes the client's clock.
func (w *World) SetsClock(client int) bool {
	return slices.ContainsFunc(w.setting.Plan, func(f nemesis.Fault) bool {
		return f.Action.Effects(w.setting).Clock.Machine.Client == client
	})
}

// Attach makes the faults of a client act on its companion, too. It has to be called before the run.
func (w *World) Attach(client int, p Companion) {
	w.hosts[client-1] = attendedHost{localHost{w.client(client), w}, p}
}

// Addrs returns the addresses at which the processes of a client find the nodes; nil: the network is
// in the memory of this process.
func (w *World) Addrs(client int) []string {
	if w.fleet.Network != nil {
		return nil
	}
	return w.addrs(client)[:w.setting.Nodes]
}

// Dialled reports whether anybody has connected to a node at the client's address of it.
func (w *World) Dialled(client, node int) bool { return w.network.Link(client, node).Dialled() }

// SharedValue says which calls have sent the same value for a key, or "": see [keywatch.Requests].
func (w *World) SharedValue() string {
	if w.history.requests == nil {
		return ""
	}
	return w.history.requests.Shared()
}

// Fail ends the run with an error. Only the first error counts.
func (w *World) Fail(err error) { w.fail(err) }

// attendedHost runs a client in this process and in its companion.
type attendedHost struct {
	localHost
	companion Companion
}

// pause stops both. The client comes first, so that nothing that the companion says after it has
// continued is noticed before.
func (a attendedHost) pause() error {
	a.gate.pause()
	return a.companion.Pause()
}

func (a attendedHost) resume() error {
	err := a.companion.Resume()
	a.gate.resume()
	return err
}

func (a attendedHost) kill() {
	a.gate.kill()
	a.companion.Kill()
}

func (a attendedHost) clocksChanged() {
	hands, at := a.clocks.read()
	wall := hands[env.Wall]
	ahead := time.Duration(wall.At(at) - int64(a.world.ground.shows(env.Wall)))
	a.world.check(a.companion.SetClock(ahead))
}

func (a attendedHost) leave() { a.companion.Leave() }
