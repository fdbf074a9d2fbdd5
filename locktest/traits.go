package locktest

import (
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
	calls map[int]int // of Lock, that have returned, of each client
}

func newTraits() *traits {
	return &traits{dials: map[int]int{}, nodes: map[int]bool{}, calls: map[int]int{}}
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
	t.calls[client]++
}

// undialled is the error of a run in which a client has called the lock and dialled nobody: it
// went by another way than the one that the storm is on. One call may have been cancelled
// before it came to that.
func (t *traits) undialled() error {
	for _, client := range slices.Sorted(maps.Keys(t.calls)) {
		if t.calls[client] > 1 && t.dials[client] == 0 {
			return fmt.Errorf("client %d has called Lock %d times, and nothing of it has used env.Dial: each client's lock needs a Redis client of its own, which dials by it", client, t.calls[client])
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

// see takes note of a grant. An error says that nobody can use it.
func (t *traits) see(client int, h Hold) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fences = t.fences || h.Fence != 0
	t.tells = t.tells || h.Lost != nil
	t.endless = t.endless || h.Until.IsZero()
	if h.Release == nil {
		return t.misuse("client %d: Lock has returned a Hold without Release", client)
	}
	return nil
}

// lack says that a hold has not what the run needs of it.
func (t *traits) lack(client int, what string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.misuse("client %d: Config.Extend is set, and Lock has returned a Hold without %s", client, what)
}

// misuse keeps the first.
func (t *traits) misuse(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if t.misused == nil {
		t.misused = err
	}
	return err
}
