package program

import (
	"fmt"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// Lock is a lock whose clients are processes of one program.
type Lock struct {
	Command []string // the program and its arguments
	Config  external.Config
}

// Run makes the processes of one run. It has to be closed after the run.
type Run struct {
	lock   Lock
	seed   uint64
	forker *child.Forker
	usage  *external.Usage

	mu      sync.Mutex
	clients []*client
}

// NewRun returns the lock for one run with a seed. On Linux the kernel kills its processes when this
// program dies; elsewhere none can be started.
func (l Lock) NewRun(seed uint64) *Run {
	return &Run{lock: l, seed: seed, forker: child.NewForker(), usage: external.NewUsage()}
}

// External returns what the runner has to know of the lock to check a scenario.
func (l Lock) External() runner.External {
	return runner.External{Name: l.Config.Name, Capacity: l.Config.Capacity, WallClock: hasClock(l.Command[0])}
}

// External returns what the runner has to know of the lock to make the run.
func (r *Run) External() runner.External {
	e := r.lock.External()
	e.Build = r.build
	return e
}

func (r *Run) build(s runner.ClientEnv) (runner.Lock, error) {
	c, err := open(r.forker, r.lock.Command, r.lock.Config, s, r.seed, r.usage)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, c)
	return c, nil
}

// Seen returns what the run has shown of the lock.
func (r *Run) Seen() external.Capabilities {
	traits, _ := r.usage.Seen(r.lock.Config.Nodes)
	return traits
}

// ClockSet reports whether a fault could set the clock of a client.
func (r *Run) ClockSet() bool { return r.usage.ClockRead() }

// Err returns the error of a run whose verdicts are worth nothing: a program that did not use the
// addresses that it was given.
func (r *Run) Err() error {
	client, calls := r.usage.Undialled()
	if client == 0 {
		return nil
	}
	return fmt.Errorf("client %d: %s has answered %d calls and has connected to none of the addresses of its hello, so no fault can reach it", client, strings.Join(r.lock.Command, " "), calls)
}

// Unused returns the nodes to which no client has connected.
func (r *Run) Unused() []int {
	_, unused := r.usage.Seen(r.lock.Config.Nodes)
	return unused
}

// SharedValue says which calls have sent the same value for a key, or "".
func (r *Run) SharedValue() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clients) == 0 {
		return ""
	}
	return r.clients[0].world.Shared() // the clients have one world
}

// BelatedLosses returns how many losses the programs reported of holds that were released before the client's next call.
func (r *Run) BelatedLosses() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		n += c.calls.belatedLosses()
	}
	return n
}

// Stderr returns the standard error of each client, by its number: its first and its last 32 KiB.
func (r *Run) Stderr() map[int][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := map[int][]byte{}
	for _, c := range r.clients {
		texts[c.number] = c.stderr.bytes()
	}
	return texts
}

// Close kills what still runs.
func (r *Run) Close() { r.forker.Close() }
