package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
)

// clientHost runs a client: as goroutines of this process behind a gate, or as a process
// of its own. Faults of clients act on it.
type clientHost interface {
	// pause stops the client, and resume lets it continue.
	pause() error
	resume() error

	// kill ends the client at once. When it returns, every event that the client
	// reported before is recorded.
	kill()

	// cancel cancels the call of the lock that is under way, if any, and records that
	// the fault did.
	cancel(fault int)

	// clocksChanged makes the client read its clocks again wherever it waits.
	clocksChanged()

	// draws makes the client draw from the named stream, from its beginning.
	draws(stream string)

	// leave ends the run: later events of the client are ignored.
	leave()
}

// localHost runs a client in this process.
type localHost struct {
	*client
	world *World
}

func (i localHost) pause() error        { i.gate.pause(); return nil }
func (i localHost) resume() error       { i.gate.resume(); return nil }
func (i localHost) kill()               { i.gate.kill() }
func (i localHost) clocksChanged()      {} // the client shares them
func (i localHost) draws(stream string) { i.random.become(i.world.seed, stream) }
func (i localHost) leave()              {} // the client leaves through its gate

func (i localHost) cancel(fault int) {
	cancelCall(i.world.calls, i.number, fault, i.world.history.ofWorld)
}

// cancelCall records the cancellation first, because the call may return at once.
func cancelCall(calls *world.Calls, client, fault int, tell func(history.Event)) {
	if cancel := calls.UnderWay(client); cancel != nil {
		tell(history.Event{Kind: history.Cancel, Client: client, Fault: fault})
		cancel()
	}
}
