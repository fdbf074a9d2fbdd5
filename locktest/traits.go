package locktest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// traits are what a run has shown of the lock itself, by which it is known what can be asked
// of it.
type traits struct {
	mu      sync.Mutex
	fences  bool // grants bear fences
	tells   bool // of a loss
	endless bool // some grant has no end of validity
	misused error

	dials map[int]int // of each client
	nodes map[int]bool
	locks map[int]int // calls of Lock that have returned, of each client

	open map[int]string // the call that each client has under way
}

func newTraits() *traits {
	return &traits{dials: map[int]int{}, nodes: map[int]bool{}, locks: map[int]int{}, open: map[int]string{}}
}

// dialled takes note of a connection that a client wants.
func (t *traits) dialled(client, node int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dials[client]++
	t.nodes[node] = true
}

// answered takes note of a call of Lock that has returned.
func (t *traits) answered(client int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locks[client]++
}

// undialled is the error of a run in which a client has called the lock and dialled nobody: it
// went by another way than the one that the storm is on. One call may have been cancelled
// before it came to that.
func (t *traits) undialled() error {
	for _, client := range slices.Sorted(maps.Keys(t.locks)) {
		if t.locks[client] > 1 && t.dials[client] == 0 {
			return fmt.Errorf("client %d has called Lock %d times, and nothing of it has used env.Dial: each client's lock needs a Redis client of its own, which dials by it", client, t.locks[client])
		}
	}
	return nil
}

// idle lists the nodes that nobody has dialled.
func (t *traits) idle(nodes int) (list []int) {
	for n := 1; n <= nodes; n++ {
		if !t.nodes[n] {
			list = append(list, n)
		}
	}
	return list
}

// calls takes note of a call of the lock's, until what it returns is called.
func (t *traits) calls(what string, client int) (over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[client] = what
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, client)
	}
}

// deaf is the error of a run at whose end calls of the lock's have not returned: their
// contexts have ended by then.
func (t *traits) deaf() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var deaf []error
	for _, client := range slices.Sorted(maps.Keys(t.open)) {
		deaf = append(deaf, fmt.Errorf("client %d: %s has not returned, though its context has ended", client, t.open[client]))
	}
	return errors.Join(deaf...)
}

// see takes note of a grant. An error says that nobody can use it.
func (t *traits) see(client int, h Hold, extends bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fences = t.fences || h.Fence != 0
	t.tells = t.tells || h.Lost != nil
	t.endless = t.endless || h.Until.IsZero()
	if h.Release == nil {
		return t.misuse("client %d: Lock has returned a Hold without Release", client)
	}
	if extends && h.Extend == nil {
		return t.misuse("client %d: Config.Extend is set, and Lock has returned a Hold without Extend", client)
	}
	return nil
}

// misuse keeps the first.
func (t *traits) misuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if t.misused == nil {
		t.misused = err
	}
	return err
}

// unused says what nodes that nobody has dialled may mean; empty, if there are none.
func unused(nodes []int) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("of the nodes nobody has dialled %v: is Config.Nodes what the lock needs? It is judged as one that is kept by a majority of them", nodes)
}
