package memory

import (
	"bufio"
	"io"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/aof"
)

// disk is the disk of a node that syncs once a second. It keeps the state at the last sync
// in databases with higher numbers than those that clients use.
type disk struct {
	syncs bool
	phase time.Duration // of the syncs
	last  int64         // number of the last sync
}

// SyncFrom implements [live.Powered].
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
	l.speaking(n, p, func() {
		for db := range databases {
			n.redis.DB(to + db).FlushDB()
			l.server.Dispatch(p, []string{"SELECT", strconv.Itoa(from + db)})
			for _, key := range n.redis.DB(from + db).Keys() {
				l.server.Dispatch(p, []string{"COPY", key, key, "DB", strconv.Itoa(to + db)})
			}
		}
	})
}
