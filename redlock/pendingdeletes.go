package redlock

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// pendingDelete is a deletion that nodes have refused, or not answered: they were down,
// say, or out of reach. They are asked again, at intervals that double, until the
// keys have expired of themselves.
type pendingDelete struct {
	attempt *attempt
	command env.Command
	nodes   env.NodeSet
	pause   time.Duration // before it is asked again
	next    env.Instant   // when that is
	expired env.Instant   // when there is nothing left to delete
}

// pendingDeletes are those of one mutex. One task sees to all of them, however many tries
// fail while a node is away.
type pendingDeletes struct {
	list    []pendingDelete
	running bool
}

// maxPendingDeletes is how many there can be; after that the oldest, which expire first,
// are forgotten.
const maxPendingDeletes = 1024

// deleteLater sees to it that a remnant is asked again, unless the mutex is closed or
// there is no time left for it.
func (m *Mutex) deleteLater(r pendingDelete) {
	r.pause = max(2*r.pause, m.config.Linger)
	r.next = m.runtime.Now(env.Monotonic).Add(r.pause)
	if m.enter(r) {
		m.background("erase remnants", nil, m.runPendingDeletes)
	}
}

// enter puts a remnant into the list, and reports whether a task has to be started
// for it.
func (m *Mutex) enter(r pendingDelete) (start bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || r.next >= r.expired {
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

// runPendingDeletes looks every linger time whether something is due, until nothing is
// left or the mutex is closed.
func (m *Mutex) runPendingDeletes() {
	for m.anyPendingDelete() {
		if m.runtime.Sleep(m.open, m.runtime.Now(env.Monotonic).Add(m.config.Linger)) != nil {
			return
		}
		due := m.duePendingDeletes()
		rounds := make([]*round, len(due))
		for i, r := range due {
			rounds[i] = m.sendAtOnce(r.nodes, r.command, m.config.Linger)
		}
		for i, r := range due {
			rounds[i].drain(nil)
			if r.nodes = rounds[i].lost | rounds[i].failed; r.nodes != 0 {
				m.deleteLater(r)
			}
		}
	}
}

// anyPendingDelete reports whether one is left; if not, the task is about to end.
func (m *Mutex) anyPendingDelete() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pendingDeletes.running = len(m.pendingDeletes.list) > 0
	return m.pendingDeletes.running
}

// duePendingDeletes takes those out of the list whose time has come, and those of which nothing
// is left.
func (m *Mutex) duePendingDeletes() (due []pendingDelete) {
	now := m.runtime.Now(env.Monotonic)
	m.mu.Lock()
	defer m.mu.Unlock()
	var later []pendingDelete
	for _, r := range m.pendingDeletes.list {
		r.nodes &^= r.attempt.late.without // as is known by now
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
