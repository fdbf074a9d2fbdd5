package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// machine is the state machine of a store: all that its nodes agree on. It knows
// no node, no network and no clock, so that the same requests at the same
// moments lead to the same state wherever they are carried out.
//
// It is small: a lock has an entry for its holder and one for each who waits. So
// everything is in lists, which are gone through.
type machine struct {
	revision uint64    // of the latest change
	gone     int       // how many entries have been deleted so far
	entries  []entry   // in the order of their creation
	sessions []session // in the order of their opening
	bars     []bar
}

// entry is an entry with what the store alone knows of it.
type entry struct {
	env.Entry
	ttl, delay time.Duration
	created    int64 // on the wall clock of who led, ns
}

// clockReading is what the clocks of the leader's machine show.
type clockReading struct{ mono, wall int64 } // ns

// do carries out a request. One without an operation does nothing but what time
// brings about.
func (m *machine) do(r *env.StoreRequest, now clockReading) env.StoreReply {
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
	case env.StoreSweep:
		m.change(m.delete(func(e *entry) bool {
			return e.ttl > 0 && strings.HasPrefix(e.Key, r.Key) && now.wall-e.created >= int64(e.ttl)
		}))
		return env.StoreReply{Done: true}
	case env.StoreList:
		return env.StoreReply{Done: true, Entries: m.list(r.Key)}
	case env.StoreAwait:
		return env.StoreReply{Done: !m.has(r.Key, r.Revision)}
	}
	return env.StoreReply{}
}

func (m *machine) create(r *env.StoreRequest, now clockReading) env.StoreReply {
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
	if m.barred(e.Key, now.mono) {
		return env.StoreReply{}
	}
	m.revision++
	m.entries = append(m.entries, entry{Entry: e, ttl: r.TTL, delay: r.Delay, created: now.wall})
	return env.StoreReply{Done: true, Entries: []env.Entry{e}}
}

// find returns the entry under a key, or nil; it is good until the next change.
func (m *machine) find(key string) *entry {
	for i := range m.entries {
		if m.entries[i].Key == key {
			return &m.entries[i]
		}
	}
	return nil
}

func (m *machine) has(key string, revision uint64) bool {
	e := m.find(key)
	return e != nil && e.Revision == revision
}

// change counts a change if it was one, and reports that.
func (m *machine) change(was bool) bool {
	if was {
		m.revision++
	}
	return was
}

// delete deletes entries of a sort and reports whether there were any.
func (m *machine) delete(which func(*entry) bool) bool {
	before := len(m.entries)
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return which(&e) })
	gone := before - len(m.entries)
	m.gone += gone
	return gone > 0
}

func (m *machine) list(prefix string) []env.Entry {
	var list []env.Entry
	for i := range m.entries {
		if strings.HasPrefix(m.entries[i].Key, prefix) {
			list = append(list, m.entries[i].Entry)
		}
	}
	return list
}

// copied returns a machine in the same state that has nothing in common with
// this one.
func (m *machine) copied() machine {
	c := *m
	c.entries, c.sessions, c.bars = slices.Clone(m.entries), slices.Clone(m.sessions), slices.Clone(m.bars)
	return c
}
