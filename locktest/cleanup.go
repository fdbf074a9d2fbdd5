package locktest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// cleanupPatience is how long the cleanup functions of one client may take together.
const cleanupPatience = 10 * time.Second

// cleanup is what is to be done behind a run.
type cleanup struct {
	mu    sync.Mutex
	funcs []func() error
}

func (c *cleanup) add(f func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.funcs = append(c.funcs, f)
}

// run calls the functions, the last first. One that does not return is an error.
func (c *cleanup) run(client int) error {
	c.mu.Lock()
	funcs := c.funcs
	c.funcs = nil
	c.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- undo(funcs) }()
	late := time.NewTimer(cleanupPatience)
	defer late.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
		return nil
	case <-late.C:
		return fmt.Errorf("client %d: what was given to Cleanup has not returned after %v", client, cleanupPatience)
	}
}

// undo calls functions, the last first. What one of them panics with is an error.
func undo(funcs []func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("what was given to Cleanup panics: %v\n%s", p, debug.Stack())
		}
	}()
	for _, f := range slices.Backward(funcs) {
		_ = f()
	}
	return nil
}
