package sim

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// session is one session of a store, which the leader counts on its monotonic
// clock.
type session struct {
	id    uint64
	ttl   time.Duration
	until int64 // ns; at that instant it is over
}

// bar is a lock-delay: a key that cannot be created for a while, because the
// session of its last entry ended by time.
type bar struct {
	key   string
	delay time.Duration
	until int64 // ns, as that of a session
}

// open opens a session. It bears the number of the change which that is.
func (m *machine) open(ttl time.Duration, mono int64) uint64 {
	m.revision++
	m.sessions = append(m.sessions, session{id: m.revision, ttl: ttl, until: mono + int64(ttl)})
	return m.revision
}

// session returns a session that is not over, or nil; it is good until the next
// change.
func (m *machine) session(id uint64) *session {
	i, found := slices.BinarySearchFunc(m.sessions, id, func(s session, id uint64) int { return cmp.Compare(s.id, id) })
	if !found {
		return nil
	}
	return &m.sessions[i]
}

func (m *machine) keep(id uint64, mono int64) bool {
	s := m.session(id)
	if s != nil {
		s.until = mono + int64(s.ttl)
	}
	return s != nil
}

// close ends a session at the wish of whoever opened it, which bars no key.
func (m *machine) close(id uint64) bool {
	if m.session(id) == nil {
		return false
	}
	m.revision++
	m.sessions = slices.DeleteFunc(m.sessions, func(s session) bool { return s.id == id })
	m.delete(func(e *entry) bool { return e.Session == id })
	return true
}

// due returns when the first session is over by time, if nobody keeps it.
func (m *machine) due() int64 {
	first := int64(math.MaxInt64)
	for i := range m.sessions {
		first = min(first, m.sessions[i].until)
	}
	return first
}

// expire ends the sessions whose time has passed.
func (m *machine) expire(mono int64) {
	if mono < m.due() {
		return
	}
	over := map[uint64]bool{}
	m.sessions = slices.DeleteFunc(m.sessions, func(s session) bool {
		over[s.id] = s.until <= mono
		return over[s.id]
	})
	m.bars = slices.DeleteFunc(m.bars, func(b bar) bool { return b.until <= mono })
	m.revision++
	m.delete(func(e *entry) bool {
		ends := e.Session != 0 && over[e.Session]
		if ends && e.delay > 0 {
			m.bars = append(m.bars, bar{e.Key, e.delay, mono + int64(e.delay)})
		}
		return ends
	})
}

func (m *machine) barred(key string, mono int64) bool {
	return slices.ContainsFunc(m.bars, func(b bar) bool { return b.key == key && mono < b.until })
}

// anew counts everything anew that the leader counts, since there is another one:
// nobody knows how much time of the old one's had passed.
func (m *machine) anew(mono int64) {
	for i := range m.sessions {
		m.sessions[i].until = mono + int64(m.sessions[i].ttl)
	}
	for i := range m.bars {
		m.bars[i].until = mono + int64(m.bars[i].delay)
	}
}
