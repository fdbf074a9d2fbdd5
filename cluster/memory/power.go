package memory

import (
	"bufio"
	"io"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
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
	n.writing.Lock()
	defer n.writing.Unlock()
	if !n.disk.syncs {
		n.disk = disk{syncs: true, phase: phase, last: -1}
	}
}

// sync has what was written before the last sync on the disk. Between that and now nothing
// was written: it is asked before anything is.
func (n *node) sync(l *life) {
	n.writing.Lock()
	defer n.writing.Unlock()
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
// is back.
func (n *node) LosePower() error {
	if l := n.now(); l != nil {
		n.clock.tick()
		n.sync(l)
	}
	n.Kill()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dark = true
	return nil
}

// isDark reports whether the node's machine has no power.
func (n *node) isDark() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dark
}

// revert takes the keys back to what was on the disk, where that is less than all.
func (n *node) revert(l *life) {
	n.writing.Lock()
	defer n.writing.Unlock()
	if n.disk.syncs {
		n.copy(l, databases, 0)
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
