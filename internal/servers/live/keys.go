package live

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
)

// retryInterval is the time between the end of a watch and its next beginning. beginTimeout bounds
// how long a run waits until its keys are watched: a server may delay the copy for a new replica.
const (
	retryInterval = 10 * time.Millisecond
	beginTimeout  = 10 * time.Second
)

// nodeWatch is the watch of a node's keys. It is suspended while the node has no server, or another
// one is about to take its place.
type nodeWatch struct {
	watch *keywatch.Watch
	began chan struct{} // closed when it has begun for the first time
	once  sync.Once

	mu        sync.Mutex
	addr      string
	lost      string // why keys are gone when it begins the next time
	suspended bool
	current   context.CancelFunc // ends the watch of the current server
	changed   chan struct{}      // closed when it is resumed
	idle      chan struct{}      // closed when no server is watched
}

// run watches one server after another until ctx ends.
func (n *nodeWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		n.follow(ctx)
		select {
		case <-time.After(retryInterval):
		case <-ctx.Done():
		}
	}
}

// follow waits until the watch is not suspended, and watches a server.
func (n *nodeWatch) follow(ctx context.Context) {
	n.mu.Lock()
	for n.suspended {
		changed := n.changed
		n.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		n.mu.Lock()
	}
	ctx, n.current = context.WithCancel(ctx)
	idle := make(chan struct{})
	n.idle = idle
	addr, lost, end := n.addr, n.lost, n.current
	n.mu.Unlock()
	defer close(idle)
	defer end()
	_ = n.watch.Follow(ctx, addr, lost, func() { // whatever it fails with, it begins anew
		n.mu.Lock()
		n.lost = ""
		n.mu.Unlock()
		n.once.Do(func() { close(n.began) })
	})
}

// suspend ends the watch of the server, unless that ends it itself, and begins no other. A watch that is
// nil watches nothing.
func (n *nodeWatch) suspend() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.suspended {
		n.suspended, n.changed = true, make(chan struct{})
	}
}

// finish ends the watch of the server, which is suspended, and waits until it has recorded what it has
// received.
func (n *nodeWatch) finish() {
	if n == nil {
		return
	}
	n.mu.Lock()
	end, idle := n.current, n.idle
	n.mu.Unlock()
	if end != nil {
		end()
		<-idle
	}
}

// resume watches the server that is now at an address. lost is the reason why keys are gone.
func (n *nodeWatch) resume(addr, lost string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addr, n.lost = addr, lost
	if n.suspended {
		n.suspended = false
		close(n.changed)
	}
}
