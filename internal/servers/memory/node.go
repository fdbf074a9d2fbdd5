package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// node is a Redis server in memory, over all its restarts.
type node struct {
	addr  string
	keeps bool // its keys survive a restart

	redis  *miniredis.Miniredis
	clock  *clock
	keys   *keys
	disk   disk
	thread sync.Mutex // held while a command is processed, or the keys and the disk are updated

	mu    sync.Mutex
	lives int
	run   *serverRun // nil while it is down
	dark  bool       // its machine has no power
}

// serverRun is one run of a node's server, from a start to its end.
type serverRun struct {
	run    string // its run id
	server *server.Server
	over   chan struct{} // closed at its end

	// Under the thread of the node.
	scripts *interpreter
	seen    any // by nestedCommand

	// Under the lock of the node.
	stopped chan struct{} // closed when it continues; nil: it is not stopped
	state   serverState
	coming  []*conn                   // connections that are about to identify themselves; nil: done
	peers   map[*server.Peer]*conn    // the connection of each peer
	own     map[*server.Peer]struct{} // peers whose commands bypass preHook
}

// Addr returns the address of a node. It is not a host name, because looking one up in a
// bubble leaves a channel of the resolver behind. It is in the multicast network reserved
// for examples (RFC 6676), so connecting to it without the world's Dial fails at once.
func Addr(node int) string { return fmt.Sprintf("233.252.0.%d:6379", node) }

// newNode returns a node that has not been started.
func newNode(m bubbleRuntime, number int, keeps bool) *node {
	redis := miniredis.NewMiniRedis()
	n := &node{addr: Addr(number), keeps: keeps, redis: redis, clock: newClock(m, redis)}
	n.keys = newKeys(number, n.expire)
	return n
}

// Addr implements [live.Server].
func (n *node) Addr() string { return n.addr }

// Start implements [live.Crasher]. A restarted server has no connections, no scripts and,
// unless they are kept, no keys.
func (n *node) Start(context.Context) error {
	if n.now() != nil {
		return fmt.Errorf("%s is already running", n.addr)
	}
	n.redis.Ctx, n.redis.CtxCancel = context.WithCancel(context.Background()) // ends what blocks
	first, err := n.redis.Dial()                                              // starts it
	if err != nil {
		return err
	}
	_ = first.Close()
	n.lives++
	l := &serverRun{
		run: fmt.Sprintf("%s, life %d", n.addr, n.lives), server: n.redis.Server(), over: make(chan struct{}),
		peers: map[*server.Peer]*conn{}, own: map[*server.Peer]struct{}{},
	}
	if _, err := l.dispatch("SCRIPT", "FLUSH"); err != nil {
		return err
	}
	l.scripts = newInterpreter(l.server)
	show := func(c *server.Peer, _ string, _ []string) {
		l.seen = c.Ctx
		c.WriteOK()
	}
	if err := errors.Join(l.server.Register(nestedCommand, show), registerDelIfEq(l.server)); err != nil {
		return err
	}
	l.server.SetPreHook(func(c *server.Peer, command string, words ...string) bool { return n.preHook(l, c, command, words) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.run, n.dark = l, false
	return nil
}

// now returns the current run of the node's server, or nil while it is down.
func (n *node) now() *serverRun {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.run
}

// Kill implements [live.Crasher].
func (n *node) Kill() {
	l := n.now()
	if l == nil {
		return
	}
	n.mu.Lock()
	n.run = nil
	n.mu.Unlock()
	close(l.over)
	n.redis.Close()
	n.thread.Lock()
	defer n.thread.Unlock()
	if !n.keeps {
		n.redis.FlushAll()
		n.look(cause{reason: history.Forgotten})
	}
}

// Quit implements [live.Crasher].
func (n *node) Quit() { n.Kill() }

// Stop implements [live.Stopper].
func (n *node) Stop() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run != nil && n.run.stopped == nil {
		n.run.stopped = make(chan struct{})
	}
	return nil
}

// Continue implements [live.Stopper].
func (n *node) Continue() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run != nil && n.run.stopped != nil {
		close(n.run.stopped)
		n.run.stopped = nil
	}
	return nil
}

// stopped returns a channel that is closed when the server continues, or nil if it is not
// stopped.
func (n *node) stopped(l *serverRun) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.stopped
}

var _ interface {
	live.Syncer
	live.Stopper
	live.Commander
	live.Clocked
} = (*node)(nil)

// disk is the disk of a node that syncs once a second. It keeps the state at the last sync
// in databases with higher numbers than those that clients use.
type disk struct {
	syncs bool
	phase time.Duration // of the syncs
	last  int64         // number of the last sync
}

// SyncFrom implements [live.Syncer].
func (n *node) SyncFrom(phase time.Duration) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if !n.disk.syncs {
		n.disk = disk{syncs: true, phase: phase, last: -1}
	}
}

// sync copies the keys to the disk if a sync was due since the last call. It has to be called
// before each write, so that nothing was written between the sync and now.
func (n *node) sync(l *serverRun) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if !n.disk.syncs {
		return
	}
	now := time.Duration(n.clock.machine.Now(env.Monotonic))
	if last := int64((now - n.disk.phase + time.Second) / time.Second); last != n.disk.last {
		n.disk.last = last
		n.copy(l, 0, databases)
	}
}

// LosePower implements [live.Powered]. Messages to a machine without power wait until it is
// back. The loss of keys is recorded now, not when a client could notice it. There is no file
// to tear: loading the records before a tear loses nothing more.
func (n *node) LosePower(aof.Loss) error {
	l := n.now()
	if l != nil {
		n.clock.tick()
		n.sync(l)
	}
	n.Kill()
	if l != nil {
		n.revert(l)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dark = true
	return nil
}

// revert restores the keys of the last sync, if the node has a disk.
func (n *node) revert(l *serverRun) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if n.disk.syncs {
		n.copy(l, databases, 0)
		n.look(cause{reason: history.RolledBack})
	}
}

// copy copies all keys from the databases that start at from to those that start at to.
func (n *node) copy(l *serverRun, from, to int) {
	p := server.NewPeer(bufio.NewWriter(io.Discard))
	l.withoutHook(n, p, func() {
		for db := range databases {
			n.redis.DB(to + db).FlushDB()
			l.server.Dispatch(p, []string{"SELECT", strconv.Itoa(from + db)})
			for _, key := range n.redis.DB(from + db).Keys() {
				l.server.Dispatch(p, []string{"COPY", key, key, "DB", strconv.Itoa(to + db)})
			}
		}
	})
}
