package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// capabilities are what runs have shown of the lock itself, by which it is known what can be asked
// of it.
type capabilities struct {
	fences  bool // grants bear fences
	tells   bool // of a loss
	endless bool // some grant has no end of validity
}

// merge adds what else has been seen.
func (t *capabilities) merge(more capabilities) {
	t.fences = t.fences || more.fences
	t.tells = t.tells || more.tells
	t.endless = t.endless || more.endless
}

// usage is what a run sees of how its lock behaves towards the kit. The lock's goroutines may
// outlive the run, on real servers.
type usage struct {
	mu     sync.Mutex
	traits capabilities
	misuse error // the first

	dials map[int]int // of each client
	nodes map[int]bool
	locks map[int]int // calls of Lock that have returned, of each client

	open map[int]string // the call that each client has under way
}

func newUsage() *usage {
	return &usage{dials: map[int]int{}, nodes: map[int]bool{}, locks: map[int]int{}, open: map[int]string{}}
}

// dialled takes note of a connection that a client wants.
func (u *usage) dialled(client, node int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.dials[client]++
	u.nodes[node] = true
}

// answered takes note of a call of Lock that has returned.
func (u *usage) answered(client int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.locks[client]++
}

// granted takes note of a grant. An error says that nobody can use it.
func (u *usage) granted(client int, h Hold, extends bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traits.merge(capabilities{fences: h.Fence != 0, tells: h.Lost != nil, endless: h.Until.IsZero()})
	if h.Release == nil {
		return u.setMisuse("client %d: Lock has returned a Hold without Release", client)
	}
	if extends && h.Extend == nil {
		return u.setMisuse("client %d: Config.Extend is set, and Lock has returned a Hold without Extend", client)
	}
	return nil
}

// extended takes note of an extension until then.
func (u *usage) extended(until time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traits.merge(capabilities{endless: until.IsZero()})
}

// calls takes note of a call of the lock's, until what it returns is called.
func (u *usage) calls(what string, client int) (over func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open[client] = what
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.open, client)
	}
}

// unreturned is the error of a run at whose end calls of the lock's have not returned: their
// contexts have ended by then.
func (u *usage) unreturned() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var deaf []error
	for _, client := range slices.Sorted(maps.Keys(u.open)) {
		deaf = append(deaf, fmt.Errorf("client %d: %s has not returned, though its context has ended", client, u.open[client]))
	}
	return errors.Join(deaf...)
}

// setMisuse keeps the first.
func (u *usage) setMisuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	u.misuse = cmp.Or(u.misuse, err)
	return err
}

// misuseError is the first thing that the lock has done which none may; nil: there is none.
func (u *usage) misuseError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.misuse
}

// undialledError is the error of a run in which a client has called the lock and dialled nobody: it
// went by another way than the one that the storm is on. One call may have been cancelled
// before it came to that.
func (u *usage) undialledError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, client := range slices.Sorted(maps.Keys(u.locks)) {
		if u.locks[client] > 1 && u.dials[client] == 0 {
			return fmt.Errorf("client %d has called Lock %d times, and nothing of it has used env.Dial: each client's lock needs a Redis client of its own, which dials by it", client, u.locks[client])
		}
	}
	return nil
}

// seen is what the lock has shown of itself, and which of so many nodes nobody has dialled.
func (u *usage) seen(nodes int) (t capabilities, idle []int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for n := 1; n <= nodes; n++ {
		if !u.nodes[n] {
			idle = append(idle, n)
		}
	}
	return u.traits, idle
}

// unused says what nodes that nobody has dialled may mean; empty, if there are none.
func unused(nodes []int) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("of the nodes nobody has dialled %v: is Config.Nodes what the lock needs? It is judged as one that is kept by a majority of them", nodes)
}
