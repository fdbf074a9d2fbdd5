package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// backends are the sessions of the leader that are connections, each a process of the server
// in PostgreSQL. They and their entries are in the leader's memory: requests to them take no
// replication, and no other node knows of them. Their times are true ones: kernels count them.
type backends struct {
	opened uint64 // so far
	all    []*backend
}

type backend struct {
	id      uint64
	opening *storeRequest
	kind    env.SessionKind
	client  int
	node    int // that leads
	ttl     int64
	heard   int64 // ground time at which the client's machine answered last
	used    int64 // ground time of the last request
	entries []env.Entry
}

// probes is how often in a TTL the kernel of a node checks whether the machine at the other end
// of a connection answers.
const probes = 4

// askBackend handles a request of a session that is a connection, which the node has received.
// A node that does not lead accepts no such connections.
func (w *World) askBackend(i int32) {
	m := w.network.messages.at(i)
	q := m.storeRequest
	q.outcome = answered
	switch {
	case q.request.Op != env.StoreOpen:
		q.reply = w.backendReply(&q.request)
	case int(m.node) == w.store.leader:
		q.reply = env.StoreReply{Done: true, Session: w.openBackend(q, int(m.client))}
	default:
		q.outcome = noLeader
	}
	w.sendOutcome(i)
}

func (w *World) openBackend(q *storeRequest, client int) uint64 {
	s := w.store
	s.backends.opened++
	b := &backend{
		id: s.backends.opened, opening: q, kind: q.request.Kind, client: client, node: s.leader,
		ttl: int64(q.request.TTL), heard: w.now, used: w.now,
	}
	s.backends.all = append(s.backends.all, b)
	w.probeLater(b)
	return b.id
}

// backendReply executes another request of a session.
func (w *World) backendReply(r *env.StoreRequest) env.StoreReply {
	all := w.store.backends.all
	at := slices.IndexFunc(all, func(b *backend) bool { return b.id == r.Session })
	if at < 0 {
		return env.StoreReply{}
	}
	b := all[at]
	b.used = w.now
	switch r.Op {
	case env.StoreKeep:
	case env.StoreClose:
		w.endBackends(func(other *backend) bool { return other == b })
	case env.StoreCreate:
		e := env.Entry{Key: r.Key, Value: r.Value, Session: b.id}
		if there := w.store.backends.find(r.Key); there != nil {
			return env.StoreReply{Entries: []env.Entry{*there}}
		}
		b.entries = append(b.entries, e)
		return env.StoreReply{Done: true, Entries: []env.Entry{e}}
	case env.StoreDelete:
		before := len(b.entries)
		b.entries = slices.DeleteFunc(b.entries, func(e env.Entry) bool { return e.Key == r.Key })
		return env.StoreReply{Done: len(b.entries) < before}
	default:
		return env.StoreReply{}
	}
	return env.StoreReply{Done: true}
}

// find returns the entry of a key, or nil.
func (s *backends) find(key string) *env.Entry {
	for _, b := range s.all {
		for i := range b.entries {
			if b.entries[i].Key == key {
				return &b.entries[i]
			}
		}
	}
	return nil
}

// probeLater schedules the next check of a connection.
func (w *World) probeLater(b *backend) {
	at := w.now + max(b.ttl/probes, 1)
	if b.kind == env.SessionTransaction {
		at = min(at, b.used+b.ttl)
	}
	w.later(at, func() {
		if !slices.Contains(w.store.backends.all, b) {
			return
		}
		if w.machineAnswers(b) {
			b.heard = w.now
		}
		if w.now-b.heard >= b.ttl || b.kind == env.SessionTransaction && w.now-b.used >= b.ttl {
			w.endBackends(func(other *backend) bool { return other == b })
			return
		}
		w.probeLater(b)
	})
}

// machineAnswers reports whether the client's machine can answer the node's. It does not matter
// whether the program stands still.
func (w *World) machineAnswers(b *backend) bool {
	l := w.network.link(b.client, b.node)
	there, _ := l.replies.rules.Holds(nemesis.Message{Client: b.client, Node: b.node, Way: nemesis.Replies})
	back, _ := l.requests.rules.Holds(nemesis.Message{Client: b.client, Node: b.node, Way: nemesis.Requests})
	return !there && !back && !w.client(b.client).suspended
}

// endBackends ends the selected sessions and deletes their entries.
func (w *World) endBackends(which func(*backend) bool) {
	s := w.store
	s.backends.all = slices.DeleteFunc(s.backends.all, func(b *backend) bool {
		if !which(b) {
			return false
		}
		for _, e := range b.entries {
			w.injector.Record(history.Event{Kind: history.EntryGone, Node: b.node, Token: e.Value, Reason: history.SessionOver})
		}
		return true
	})
}

// resetBackend ends the session whose connection was reset, if the request is of one.
func (w *World) resetBackend(q *storeRequest) {
	if q != nil && q.request.Kind != env.SessionLease {
		w.endBackends(q.uses)
	}
}

// uses reports whether a request travels over the connection of a session.
func (q *storeRequest) uses(b *backend) bool { return b.id == q.request.Session || b.opening == q }

// nodeOf returns the node to which the client sends a request.
func (c *client) nodeOf(r *env.StoreRequest) int {
	if node, ok := c.connections[r.Session]; ok && r.Kind != env.SessionLease {
		return node
	}
	return c.connected
}

// note keeps in mind to which node a new connection leads.
func (c *client) note(q *storeRequest, node int) {
	if q.request.Kind == env.SessionLease || q.request.Op != env.StoreOpen {
		return
	}
	if c.connections == nil {
		c.connections = map[uint64]int{}
	}
	c.connections[q.reply.Session] = node
}

// disconnect closes the connection of a request that has failed. The next one is to another
// node.
func (c *client) disconnect(q *storeRequest, node int) {
	if q.request.Kind == env.SessionLease || q.request.Op == env.StoreClose {
		return
	}
	c.hangUp(q.uses)
	if q.outcome == undecided {
		q.outcome = leaderLost // if it has still to come
	}
	if c.connected == node {
		c.connected = node%len(c.world.nodes) + 1
	}
}

// hangUp closes connections of the client, as its kernel does even for a program that has died.
// The node learns of it when a message arrives.
func (c *client) hangUp(which func(*backend) bool) {
	w := c.world
	if w.store == nil {
		return
	}
	for _, b := range w.store.backends.all {
		if b.client == c.id && which(b) {
			r := &round{client: c, giveUp: env.Never, pending: env.SetOf(b.node)}
			r.replies = r.room[:0]
			c.sendAlone(r, b.node, &storeRequest{message: noMessage, request: env.StoreRequest{Op: env.StoreClose, Session: b.id, Kind: b.kind}})
		}
	}
}
