package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/world"
)

// body is what a client lives in: goroutines of this process behind a gate, or a process
// of its own. Faults take hold of it there.
type body interface {
	// pause makes it stand still, and resume lets it go on.
	pause() error
	resume() error

	// kill ends it without a word. What it has told before has been heard when kill
	// returns.
	kill()

	// cancel ends the call of its lock that it has under way, on behalf of a fault, and
	// tells of that.
	cancel(fault int)

	// clocksChanged lets it look at its clocks again, for whatever it waits for.
	clocksChanged()

	// draws has it draw from the stream of that name from now on, from its beginning.
	draws(stream string)

	// leave is the end of the run: nothing of what it tells from now on matters.
	leave()
}

// inside is a client that lives in this process.
type inside struct {
	*client
	world *World
}

func (i inside) pause() error        { i.gate.pause(); return nil }
func (i inside) resume() error       { i.gate.resume(); return nil }
func (i inside) kill()               { i.gate.kill() }
func (i inside) clocksChanged()      {} // they are its own
func (i inside) draws(stream string) { i.random.become(i.world.seed, stream) }
func (i inside) leave()              {} // its gate is the way out

func (i inside) cancel(fault int) {
	cancelCall(i.world.calls, i.number, fault, i.world.history.ofWorld)
}

// cancelCall tells first, because the call may return at once.
func cancelCall(calls *world.Calls, client, fault int, tell func(history.Event)) {
	if cancel := calls.UnderWay(client); cancel != nil {
		tell(history.Event{Kind: history.Cancel, Client: client, Fault: fault})
		cancel()
	}
}
