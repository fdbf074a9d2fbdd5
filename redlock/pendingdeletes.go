package redlock

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// remnant is a deletion that nodes have refused, or not answered: they were down,
// say, or out of reach. They are asked again, at intervals that double, until the
// keys have expired of themselves.
type remnant struct {
	attempt *attempt
	command env.Command
	nodes   env.NodeSet
	pause   time.Duration // before it is asked again
	next    env.Instant   // when that is
	expired env.Instant   // when there is nothing left to delete
}

// remnants are those of one mutex. One task sees to all of them, however many tries
// fail while a node is away.
type remnants struct {
	list    []remnant
	running bool
}

// maxRemnants is how many there can be; after that the oldest, which expire first,
// are forgotten.
const maxRemnants = 1024

// remember sees to it that a remnant is asked again, unless the mutex is closed or
// there is no time left for it.
func (m *Mutex) remember(r remnant) {
	r.pause = max(2*r.pause, m.config.Linger)
	r.next = m.runtime.Now(env.Monotonic).Add(r.pause)
	if m.enter(r) {
		m.background("erase remnants", nil, m.eraseRemnants)
	}
}

// enter puts a remnant into the list, and reports whether a task has to be started
// for it.
func (m *Mutex) enter(r remnant) (start bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || r.next >= r.expired {
		return false
	}
	if len(m.remnants.list) == maxRemnants {
		m.remnants.list = m.remnants.list[1:]
	}
	m.remnants.list = append(m.remnants.list, r)
	start = !m.remnants.running
	m.remnants.running = true
	return start
}

// eraseRemnants looks every linger time whether something is due, until nothing is
// left or the mutex is closed.
func (m *Mutex) eraseRemnants() {
	for m.anyRemnant() {
		if m.runtime.Sleep(m.open, m.runtime.Now(env.Monotonic).Add(m.config.Linger)) != nil {
			return
		}
		due := m.dueRemnants()
		rounds := make([]*round, len(due))
		for i, r := range due {
			rounds[i] = m.sendAtOnce(r.nodes, r.command, m.config.Linger)
		}
		for i, r := range due {
			rounds[i].drain(nil)
			if r.nodes = rounds[i].lost | rounds[i].failed; r.nodes != 0 {
				m.remember(r)
			}
		}
	}
}

// anyRemnant reports whether one is left; if not, the task is about to end.
func (m *Mutex) anyRemnant() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remnants.running = len(m.remnants.list) > 0
	return m.remnants.running
}

// dueRemnants takes those out of the list whose time has come, and those of which nothing
// is left.
func (m *Mutex) dueRemnants() (due []remnant) {
	now := m.runtime.Now(env.Monotonic)
	m.mu.Lock()
	defer m.mu.Unlock()
	var later []remnant
	for _, r := range m.remnants.list {
		r.nodes &^= r.attempt.late.without // as is known by now
		switch {
		case r.nodes == 0:
		case r.next <= now:
			due = append(due, r)
		default:
			later = append(later, r)
		}
	}
	m.remnants.list = later
	return due
}
