package live

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// gate is what every goroutine of a client passes when it enters and leaves a
// port: an open door while the client runs, a closed one while it is paused or
// dead, and after the run the way out.
type gate struct {
	over context.Context // ends with the run

	shut atomic.Bool // paused or dead

	mu     sync.Mutex
	paused bool
	dead   bool
	moved  chan struct{} // closed and replaced with every change
}

func newGate(over context.Context) *gate {
	return &gate{over: over, moved: make(chan struct{})}
}

// pass returns while the client runs, and reports whether it had to wait for
// that. After the run it ends the goroutine.
func (g *gate) pass() (waited bool) {
	waited, over := g.await()
	if over {
		runtime.Goexit()
	}
	return waited
}

// await is pass for a goroutine that is not ours to end: it is told that the run is over.
func (g *gate) await() (waited, over bool) {
	for {
		if g.over.Err() != nil {
			return waited, true
		}
		if !g.shut.Load() {
			return waited, false
		}
		g.mu.Lock()
		shut, moved := g.paused || g.dead, g.moved
		g.mu.Unlock()
		if !shut {
			return waited, false
		}
		waited = true
		select {
		case <-moved:
		case <-g.over.Done():
		}
	}
}

func (g *gate) pause()  { g.move(func() { g.paused = true }) }
func (g *gate) resume() { g.move(func() { g.paused = false }) }
func (g *gate) kill()   { g.move(func() { g.dead = true }) }

func (g *gate) move(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	g.shut.Store(g.paused || g.dead)
	close(g.moved)
	g.moved = make(chan struct{})
}
