package locktest

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend is where the nodes of a lock run.
type Backend int

const (
	// Memory nodes are in this process, with virtual time.
	Memory Backend = iota
	// Process nodes are processes on this machine, behind proxies, with real time: redis-server,
	// or the servers of [Config.Store]. A run in which things happen later than the plan allows is unknown, and is
	// repeated once. A watch of each redis-server records the changes of its keys; in a store they are not
	// recorded: B and L3 are not judged there, nor the part of C that needs keys (that a release reports
	// the truth, and that nothing else ends a hold).
	Process
)

// backendInfo is how a backend is used.
type backendInfo struct {
	runner.Backend
	bubble bool // runs have to be in a bubble of synctest
	runs   int  // default of Config.Runs
	again  int  // default of Config.Again

	budget time.Duration // default of Config.Budget
	shrink int           // default of -locktest.shrink
}

// realBudget is the budget on real servers.
const realBudget = 10 * time.Minute

// backends are the backends by their number.
var backends = []backendInfo{
	Memory:  {Backend: runnerBackend(memory.Backend{}), bubble: true, runs: 3, again: 20, shrink: 100, budget: 15 * time.Second},
	Process: {Backend: processes(), runs: 1, again: -1, budget: realBudget},
}

// processes returns the backend of redis-server processes, whose keys are watched.
func processes() runner.Backend {
	b := runnerBackend(process.Backend{WatchKeys: true, External: true})
	b.Keys, b.Watched = true, true
	return b
}

// runnerBackend returns a backend for the runner.
func runnerBackend(b interface {
	Ability() nemesis.Ability
	Open(context.Context, nemesis.Setting, uint64, history.Sink) (*live.World, error)
}) runner.Backend {
	recording, _ := b.(interface{ Keys() bool }) // nil: it does not record the nodes' keys
	return runner.Backend{
		Ability: b.Ability(),
		Keys:    recording != nil && recording.Keys(),
		Idle:    true, Dialable: true,
		Open: runner.Opener(b.Open),
	}
}

// String returns the backend's name, also used in stored runs.
func (b Backend) String() string {
	if !b.known() {
		return fmt.Sprintf("Backend(%d)", int(b))
	}
	return b.world().Name
}

func (b Backend) known() bool { return b >= 0 && int(b) < len(backends) }

// world returns how the configuration's nodes are used.
func (c Config) world() backendInfo {
	if c.Store.is() {
		return c.Store.world()
	}
	return c.Backend.world()
}

// world returns how the backend is used, or the zero value if it is unknown.
func (b Backend) world() backendInfo {
	if !b.known() {
		return backendInfo{}
	}
	return backends[b]
}
