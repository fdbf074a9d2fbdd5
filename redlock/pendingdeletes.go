package redlock

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// pendingDelete is a delete that failed or got no reply, because nodes are down or out of reach.
// It is sent again, after pauses that double, until the keys have expired.
type pendingDelete struct {
	attempt *attempt
	command env.Command
	nodes   env.NodeSet
	pause   time.Duration // before it is sent again
	next    env.Instant   // when it is sent again
	expired env.Instant   // when the keys have expired
}

// pendingDeletes are the pending deletes of one mutex. One task sends all of them, however many
// tries fail while a node is down.
type pendingDeletes struct {
	list    []pendingDelete
	running bool
}

// maxPendingDeletes is the largest number of pending deletes. Beyond it the oldest, which
// expires first, is dropped.
const maxPendingDeletes = 1024

// deleteLater schedules a pending delete, unless the mutex is closed or the keys expire
// before its turn.
func (m *Mutex) deleteLater(r pendingDelete) {
	r.pause = max(2*r.pause, m.config.Linger)
	r.next = m.runtime.Now(env.Monotonic).Add(r.pause)
	if m.enter(r) {
		m.background("erase remnants", m.runPendingDeletes)
	}
}

// enter adds a pending delete to the list, and reports whether the task has to be
// started.
func (m *Mutex) enter(r pendingDelete) (start bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs.closed.Load() || r.next >= r.expired {
		return false
	}
	if len(m.pendingDeletes.list) == maxPendingDeletes {
		m.pendingDeletes.list = m.pendingDeletes.list[1:]
	}
	m.pendingDeletes.list = append(m.pendingDeletes.list, r)
	start = !m.pendingDeletes.running
	m.pendingDeletes.running = true
	return start
}

// runPendingDeletes sends the deletes that are due, every linger time, until the list is empty or
// the mutex is closed.
func (m *Mutex) runPendingDeletes() {
	for m.anyPendingDelete() {
		if m.runtime.Sleep(m.open, m.runtime.Now(env.Monotonic).Add(m.config.Linger)) != nil {
			return
		}
		due := m.duePendingDeletes()
		rounds := make([]*round, len(due))
		for i, r := range due {
			rounds[i] = m.send(r.nodes, r.command, m.config.Linger)
		}
		for i, r := range due {
			rounds[i].drain()
			if r.nodes = rounds[i].lost | rounds[i].failed; r.nodes != 0 {
				m.deleteLater(r)
			}
		}
	}
}

// anyPendingDelete reports whether the list has deletes. If not, the task ends.
func (m *Mutex) anyPendingDelete() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pendingDeletes.running = len(m.pendingDeletes.list) > 0
	return m.pendingDeletes.running
}

// duePendingDeletes removes the deletes that are due from the list and returns them. It drops
// nodes that are known by now not to have set the key.
func (m *Mutex) duePendingDeletes() (due []pendingDelete) {
	now := m.runtime.Now(env.Monotonic)
	m.mu.Lock()
	defer m.mu.Unlock()
	var later []pendingDelete
	for _, r := range m.pendingDeletes.list {
		r.nodes &^= r.attempt.late.without
		switch {
		case r.nodes == 0:
		case r.next <= now:
			due = append(due, r)
		default:
			later = append(later, r)
		}
	}
	m.pendingDeletes.list = later
	return due
}
