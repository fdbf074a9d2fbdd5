package memory

import (
	"bufio"
	"io"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/cluster/aof"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// disk is that of a node whose writes are synced once a second: what was on it at the last
// sync is kept in databases behind those that clients have.
type disk struct {
	syncs bool
	phase time.Duration // of the syncs
	last  int64         // sync
}

// SyncFrom implements [live.Powered].
func (n *node) SyncFrom(phase time.Duration) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if !n.disk.syncs {
		n.disk = disk{syncs: true, phase: phase, last: -1}
	}
}

// sync has what was written before the last sync on the disk. Between that and now nothing
// was written: it is asked before anything is.
func (n *node) sync(l *life) {
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

// LosePower implements [live.Powered]. What comes to a machine without power waits until it
// is back. What it has lost is told now, and not when somebody could find out. There is no file
// to be torn: a server that loads what is before the tear has lost nothing by it.
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

// revert takes the keys back to what was on the disk, where that is less than all.
func (n *node) revert(l *life) {
	n.thread.Lock()
	defer n.thread.Unlock()
	if n.disk.syncs {
		n.copy(l, databases, 0)
		n.look(cause{reason: history.RolledBack})
	}
}

// copy copies all keys from so many databases on to as many others.
func (n *node) copy(l *life, from, to int) {
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
