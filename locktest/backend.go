package locktest

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend is where the nodes of a lock are.
type Backend int

const (
	// Memory is in this process, and time is virtual.
	Memory Backend = iota
	// Process is redis-server processes of this machine, behind proxies; time is real. What
	// comes later than the plan can bear makes a run unknown: it is repeated once. Nobody
	// records what becomes of keys there: L3 is not judged, nor that part of C which looks
	// at keys (that a release says what is true, and that nothing but a release ends a hold).
	Process
)

// world is what a backend is to a test.
type world struct {
	runner.Backend
	bubble bool // a run has to be in a bubble of synctest
	runs   int  // the defaults of Config.Runs
	again  int  // and of Config.Again
}

// worlds are the backends, by their number.
var worlds = []world{
	Memory:  {Backend: dialled(memory.Backend{}), bubble: true, runs: 3, again: 100},
	Process: {Backend: dialled(process.Backend{}), runs: 1, again: -1},
}

// dialled is a backend as storm knows it.
func dialled(b interface {
	Name() string
	Faults() []nemesis.Kind
	Features() []nemesis.Feature
	Open(context.Context, nemesis.Setting, uint64, history.Sink) (*live.World, error)
}) runner.Backend {
	recording, _ := b.(interface{ Keys() bool }) // nil: it does not record the nodes' keys
	return runner.Backend{
		Ability: nemesis.Ability{Name: b.Name(), Kinds: b.Faults(), Features: b.Features()},
		Keys:    recording != nil && recording.Keys(),
		Idle:    true, Dialable: true,
		Open: runner.Opener(b.Open),
	}
}

// String is what the backend is called, in stored runs, too.
func (b Backend) String() string {
	if !b.known() {
		return fmt.Sprintf("Backend(%d)", int(b))
	}
	return b.world().Name
}

func (b Backend) known() bool { return b >= 0 && int(b) < len(worlds) }

// world returns what the backend is to a test; of one that is not known, nothing.
func (b Backend) world() world {
	if !b.known() {
		return world{}
	}
	return worlds[b]
}
