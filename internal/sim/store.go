package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// stateMachine is the state of a store, on which its nodes agree. It knows no node,
// network or clock, so that the same requests at the same times lead to the same state on
// every node.
//
// It is small: a lock has an entry for its holder and one for each waiting client. So
// everything is in lists that are scanned.
type stateMachine struct {
	revision   uint64    // of the latest change
	deleted    int       // how many entries have been deleted so far
	entries    []entry   // in the order of their revisions
	sessions   []session // in the order of their opening
	lockDelays []lockDelay
}

// entry is an entry with its internal data.
type entry struct {
	env.Entry
	ttl, delay time.Duration
	created    int64 // on the wall clock of who led, ns

	// until is when an entry that expires by itself does so, on the leader's monotonic clock, ns;
	// for others it is noTimer. The clock is that of sessions, which counts no steps, and like
	// theirs the time starts anew with a new leader.
	until int64
}

// expires reports whether the entry expires by itself.
func (e *entry) expires() bool { return e.until != noTimer }

// clockReading is what the clocks of the leader's machine show.
type clockReading struct{ mono, wall int64 } // ns

// do executes a request. One without an operation only expires what is due.
func (m *stateMachine) do(r *env.StoreRequest, now clockReading) env.StoreReply {
	m.expire(now.mono)
	switch r.Op {
	case env.StoreOpen:
		return env.StoreReply{Done: true, Session: m.open(r.TTL, now.mono)}
	case env.StoreKeep:
		return env.StoreReply{Done: m.keep(r.Session, now.mono)}
	case env.StoreClose:
		return env.StoreReply{Done: m.close(r.Session)}
	case env.StoreCreate:
		return m.create(r, now)
	case env.StoreDelete:
		return env.StoreReply{Done: m.change(m.delete(func(e *entry) bool {
			return e.Key == r.Key && (r.Revision == 0 || r.Revision == e.Revision)
		}))}
	case env.StoreRenew:
		return m.renew(r, now.mono)
	case env.StoreUpdate:
		return m.update(r)
	case env.StoreSweep:
		m.change(m.delete(func(e *entry) bool {
			return e.ttl > 0 && !e.expires() && strings.HasPrefix(e.Key, r.Key) && now.wall-e.created >= int64(e.ttl)
		}))
		return env.StoreReply{Done: true}
	case env.StoreList:
		return env.StoreReply{Done: true, Entries: m.list(r.Key)}
	case env.StoreAwait:
		return env.StoreReply{Done: !m.has(r.Key, r.Revision)}
	}
	return env.StoreReply{}
}

func (m *stateMachine) create(r *env.StoreRequest, now clockReading) env.StoreReply {
	if r.Session != 0 && m.session(r.Session) == nil {
		return env.StoreReply{}
	}
	e := env.Entry{Key: r.Key, Value: r.Value, Session: r.Session, Revision: m.revision + 1}
	if r.Sequential {
		e.Key += fmt.Sprintf("%010d", e.Revision) // as ZooKeeper writes it: sorted as text they are in order
	}
	if there := m.find(e.Key); there != nil {
		return env.StoreReply{Entries: []env.Entry{there.Entry}}
	}
	if m.delayed(e.Key, now.mono) {
		return env.StoreReply{}
	}
	m.revision++
	created := entry{Entry: e, ttl: r.TTL, delay: r.Delay, created: now.wall, until: noTimer}
	if r.Expires {
		created.until = now.mono + int64(r.TTL)
	}
	m.entries = append(m.entries, created)
	return env.StoreReply{Done: true, Entries: []env.Entry{e}}
}

// renew gives an entry that expires a new time to live, if that ends later, and a new revision.
func (m *stateMachine) renew(r *env.StoreRequest, mono int64) env.StoreReply {
	i := slices.IndexFunc(m.entries, func(e entry) bool { return e.Key == r.Key && e.Revision == r.Revision && e.expires() })
	if i < 0 {
		return env.StoreReply{}
	}
	m.revision++
	e := m.entries[i]
	e.Revision = m.revision
	if until := mono + int64(r.TTL); until > e.until {
		e.ttl, e.until = r.TTL, until
	}
	m.entries = append(slices.Delete(m.entries, i, i+1), e)
	return env.StoreReply{Done: true, Entries: []env.Entry{e.Entry}}
}

// update gives an entry another value and a new revision.
func (m *stateMachine) update(r *env.StoreRequest) env.StoreReply {
	i := slices.IndexFunc(m.entries, func(e entry) bool { return e.Key == r.Key })
	switch {
	case i < 0:
		return env.StoreReply{}
	case m.entries[i].Revision != r.Revision:
		return env.StoreReply{Entries: []env.Entry{m.entries[i].Entry}}
	}
	m.revision++
	e := m.entries[i]
	e.Value, e.Revision = r.Value, m.revision
	m.entries = append(slices.Delete(m.entries, i, i+1), e)
	return env.StoreReply{Done: true, Entries: []env.Entry{e.Entry}}
}

// find returns the entry of a key, or nil. The pointer is valid until the next change.
func (m *stateMachine) find(key string) *entry {
	for i := range m.entries {
		if m.entries[i].Key == key {
			return &m.entries[i]
		}
	}
	return nil
}

func (m *stateMachine) has(key string, revision uint64) bool {
	e := m.find(key)
	return e != nil && e.Revision == revision
}

// lost reports whether an entry that was there no longer is, or is that of another try.
func (m *stateMachine) lost(e entry) bool {
	there := m.find(e.Key)
	return there == nil || there.Token() != e.Token()
}

// change increments the revision if there was a change, and reports whether there was.
func (m *stateMachine) change(was bool) bool {
	if was {
		m.revision++
	}
	return was
}

// delete deletes the selected entries and reports whether there were any.
func (m *stateMachine) delete(which func(*entry) bool) bool {
	before := len(m.entries)
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return which(&e) })
	gone := before - len(m.entries)
	m.deleted += gone
	return gone > 0
}

func (m *stateMachine) list(prefix string) []env.Entry {
	var list []env.Entry
	for i := range m.entries {
		if strings.HasPrefix(m.entries[i].Key, prefix) {
			list = append(list, m.entries[i].Entry)
		}
	}
	return list
}

// clone returns a deep copy.
func (m *stateMachine) clone() stateMachine {
	c := *m
	c.entries, c.sessions, c.lockDelays = slices.Clone(m.entries), slices.Clone(m.sessions), slices.Clone(m.lockDelays)
	return c
}

// session is one session of a store, which expires by the leader's monotonic clock.
type session struct {
	id    uint64
	ttl   time.Duration
	until int64 // ns; at that instant it is over
}

// lockDelay is a key that cannot be created for a while, because the session of its last
// entry expired.
type lockDelay struct {
	key   string
	delay time.Duration
	until int64 // ns, as that of a session
}

// open opens a session. Its id is the revision.
func (m *stateMachine) open(ttl time.Duration, mono int64) uint64 {
	m.revision++
	m.sessions = append(m.sessions, session{id: m.revision, ttl: ttl, until: mono + int64(ttl)})
	return m.revision
}

// session returns a session that is not over, or nil. The pointer is valid until the next
// change.
func (m *stateMachine) session(id uint64) *session {
	i, found := slices.BinarySearchFunc(m.sessions, id, func(s session, id uint64) int { return cmp.Compare(s.id, id) })
	if !found {
		return nil
	}
	return &m.sessions[i]
}

func (m *stateMachine) keep(id uint64, mono int64) bool {
	s := m.session(id)
	if s != nil {
		s.until = mono + int64(s.ttl)
	}
	return s != nil
}

// close ends a session on request, without lock-delays.
func (m *stateMachine) close(id uint64) bool {
	if m.session(id) == nil {
		return false
	}
	m.revision++
	m.sessions = slices.DeleteFunc(m.sessions, func(s session) bool { return s.id == id })
	m.delete(func(e *entry) bool { return e.Session == id })
	return true
}

// due returns when the first session or entry expires, if it is not renewed.
func (m *stateMachine) due() int64 {
	first := int64(noTimer)
	for i := range m.sessions {
		first = min(first, m.sessions[i].until)
	}
	for i := range m.entries {
		first = min(first, m.entries[i].until)
	}
	return first
}

// expire ends the sessions whose time has passed, and deletes entries that expire.
func (m *stateMachine) expire(mono int64) {
	if mono < m.due() {
		return
	}
	over := map[uint64]bool{}
	m.sessions = slices.DeleteFunc(m.sessions, func(s session) bool {
		over[s.id] = s.until <= mono
		return over[s.id]
	})
	m.lockDelays = slices.DeleteFunc(m.lockDelays, func(b lockDelay) bool { return b.until <= mono })
	m.revision++
	m.delete(func(e *entry) bool {
		if e.until <= mono {
			return true
		}
		ends := e.Session != 0 && over[e.Session]
		if ends && e.delay > 0 {
			m.lockDelays = append(m.lockDelays, lockDelay{e.Key, e.delay, mono + int64(e.delay)})
		}
		return ends
	})
}

func (m *stateMachine) delayed(key string, mono int64) bool {
	return slices.ContainsFunc(m.lockDelays, func(b lockDelay) bool { return b.key == key && mono < b.until })
}

// endTimers makes all sessions due.
func (m *stateMachine) endTimers() {
	for i := range m.sessions {
		m.sessions[i].until = math.MinInt64
	}
}

// restartTimers restarts the timers of sessions, lock-delays and entries that expire at a new
// leader, which does not know how much of them has passed.
func (m *stateMachine) restartTimers(mono int64) {
	for i := range m.sessions {
		m.sessions[i].until = mono + int64(m.sessions[i].ttl)
	}
	for i := range m.lockDelays {
		m.lockDelays[i].until = mono + int64(m.lockDelays[i].delay)
	}
	for i := range m.entries {
		if e := &m.entries[i]; e.expires() {
			e.until = mono + int64(e.ttl)
		}
	}
}

// replica is the state of the other nodes, or of one of them, in a store that answers before it
// replicates. It lags behind the leader by the changes that are on their way.
type replica struct {
	machine stateMachine
	log     []logged // on their way, in their order

	// Of one node.
	follows bool  // it is connected to the leader
	last    int64 // ground time at which the latest change arrives
}

// logged is one change. Executed with the same clock reading it has the same effect on the
// replica.
type logged struct {
	request env.StoreRequest
	now     clockReading
	arrives int64 // ground time
}

// enter sends a change to the replica.
func (r *replica) enter(l logged, now int64) {
	r.catchUp(now)
	r.log = append(r.log, l)
}

// catchUp executes the changes that have arrived by a ground time.
func (r *replica) catchUp(now int64) {
	for len(r.log) > 0 && r.log[0].arrives <= now {
		r.machine.do(&r.log[0].request, r.log[0].now)
		r.log = r.log[1:]
	}
}
