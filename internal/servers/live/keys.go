package live

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/nemesis"
)

// retryInterval is the time between the end of a watch and its next beginning. beginTimeout bounds
// how long a run waits until its keys are watched: a server may delay the copy for a new replica.
const (
	retryInterval = 10 * time.Millisecond
	beginTimeout  = 10 * time.Second
)

// lastLookTimeout bounds how much longer a run takes because its keys are watched.
const lastLookTimeout = 200 * time.Millisecond

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

// tapRequests makes the links of all clients notice what they send, if the lock is not of this program.
func (w *World) tapRequests() {
	if !w.fleet.External || !w.fleet.WatchKeys {
		return
	}
	w.history.requests = keywatch.NewRequests(w.history.elapsed)
	w.history.tries = w.history.requests
	for client := 1; client <= w.setting.Clients; client++ {
		for node := range w.fleet.Servers {
			w.network.Link(client, node+1).Rewrite(w.history.requests.Tap(client))
		}
	}
}

// watchKeys begins to watch the keys of all nodes, and waits until it has begun.
func (w *World) watchKeys(ctx context.Context) {
	if !w.fleet.WatchKeys || w.watches != nil {
		return
	}
	late := time.NewTimer(beginTimeout)
	defer late.Stop()
	for i, server := range w.fleet.Servers {
		n := &nodeWatch{watch: keywatch.New(entryLog{w.history, i + 1}), began: make(chan struct{}), addr: server.Addr()}
		w.watches = append(w.watches, n)
		w.tasks.start("watch of keys", func() { n.run(w.over) }, w.fail)
	}
	for _, n := range w.watches {
		select {
		case <-n.began:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// lastLook waits until the watches have recorded what has happened up to now, so that the last releases
// are judged. Watches that are suspended, or late, are not waited for.
func (w *World) lastLook() {
	var nodes []int
	for i, n := range w.watches {
		n.mu.Lock()
		if !n.suspended {
			nodes = append(nodes, i+1)
		}
		n.mu.Unlock()
	}
	now := w.ground.shows(env.Monotonic)
	for end := time.Now().Add(lastLookTimeout); !w.history.sawAll(nodes, now) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
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

// suspendWatch ends the watch of a node's server, unless that ends it itself, and begins no other.
func (w *World) suspendWatch(node int) {
	if len(w.watches) == 0 {
		return
	}
	n := w.watches[node-1]
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.suspended {
		n.suspended, n.changed = true, make(chan struct{})
	}
}

// endWatch ends the watch of a node's server, which is suspended, and waits until it has recorded what
// it has received.
func (w *World) endWatch(node int) {
	if len(w.watches) == 0 {
		return
	}
	n := w.watches[node-1]
	n.mu.Lock()
	end, idle := n.current, n.idle
	n.mu.Unlock()
	if end != nil {
		end()
		<-idle
	}
}

// resumeWatch watches a node's present server. lost is the reason why keys are gone.
func (w *World) resumeWatch(node int, lost string) {
	if len(w.watches) == 0 {
		return
	}
	n := w.watches[node-1]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addr, n.lost = w.server(node).Addr(), lost
	if n.suspended {
		n.suspended = false
		close(n.changed)
	}
}

// lost is the reason why keys of a node are gone that comes back.
func (r recovery) lost(p nemesis.Persistence) string {
	if p == nemesis.Nothing && r.left == p.Keeps() {
		return history.Forgotten
	}
	return history.RolledBack
}
