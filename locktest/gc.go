package locktest

import (
	"runtime/debug"
	"sync"
)

// The default of GOGC, and its value while nodes are in memory. The heap of a run is small: with
// the default, a tenth of the time is garbage collection.
const (
	gcDefault = 100
	gcInRuns  = 400
)

// rareGC is set while runs go on.
var rareGC gcSetting

// gcSetting counts those that want rare garbage collection.
type gcSetting struct {
	mu    sync.Mutex
	users int
	set   bool
}

// use makes garbage collection rare until done is called, unless the program or its user has set how
// often it is.
func (g *gcSetting) use() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.users++; g.users == 1 {
		if before := debug.SetGCPercent(gcInRuns); before != gcDefault {
			debug.SetGCPercent(before)
		} else {
			g.set = true
		}
	}
	return sync.OnceFunc(g.unuse)
}

func (g *gcSetting) unuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.users--; g.users == 0 && g.set {
		g.set = false
		debug.SetGCPercent(gcDefault)
	}
}
