package locktest

import (
	"fmt"
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
