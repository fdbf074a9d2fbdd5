package sim

import (
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// node is one Redis master: a key store whose keys expire by its wall clock,
// behind a server.
type node struct {
	id      int
	wall    clock
	keys    map[string]key
	dirty   bool     // a key has changed since this was last reset
	journal *journal // nil: no fault of the plan takes changes back
	server
}

type key struct {
	token  string
	expiry int64 // the last millisecond of the node's wall clock in which it lives
}

func newNode(id int, s nemesis.Setting, seed uint64) node {
	return node{
		id: id, wall: clock{shown: epoch}, keys: map[string]key{},
		journal: newJournal(id, s, seed), server: newServer(id, s, seed),
	}
}

// millis reads the node's clock as Redis does, in whole milliseconds.
func (n *node) millis(now int64) int64 { return n.wall.at(now) / int64(time.Millisecond) }

// execute carries out the command of a message.
func (w *World) execute(n *node, m *message) env.Answer {
	by, command := int(m.client), &m.round.command
	if n.failing != 0 && n.failing.meets(command.Op) {
		return env.Failed
	}
	w.expireKeys()
	held, exists := n.keys[command.Key]
	mine := exists && held.token == command.Token
	expiry := n.millis(w.now) + command.TTL.Milliseconds()
	switch {
	case command.Op == env.OpSet && !exists:
		w.put(n, command.Key, key{token: command.Token, expiry: expiry})
		w.carrier.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: command.Key, Token: command.Token, Client: by, Sent: history.Time(m.sent)})
		return env.Yes
	case command.Op == env.OpDelete && mine:
		if n.failing == readOnly {
			return env.Failed
		}
		w.forget(n, history.Event{Resource: command.Key, Token: command.Token, Reason: "deleted", Client: by})
		return env.Yes
	case command.Op == env.OpExtend && mine:
		if held.expiry < expiry {
			if n.failing == readOnly {
				return env.Failed
			}
			held.expiry = expiry
			w.put(n, command.Key, held)
		}
		w.carrier.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: command.Token, Client: by})
		return env.Yes
	}
	return env.No
}

// put and drop are the only ones that change the keys.
func (w *World) put(n *node, resource string, k key) {
	if n.journal != nil {
		w.enter(n, resource)
	}
	n.keys[resource] = k
	n.dirty = true
	w.nextExpiry = min(w.nextExpiry, n.expires(k))
}

func (w *World) drop(n *node, resource string) {
	if n.journal != nil {
		w.enter(n, resource)
	}
	delete(n.keys, resource)
	n.dirty = true
}

func (w *World) forget(n *node, gone history.Event) {
	w.drop(n, gone.Resource)
	gone.Kind, gone.Node = history.KeyGone, n.id
	w.carrier.Record(gone)
}

// forgetAll empties the node on behalf of a fault, in an order that does not
// depend on the map's.
func (w *World) forgetAll(n *node, reason string, fault int) {
	resources := make([]string, 0, len(n.keys))
	for r := range n.keys {
		resources = append(resources, r)
	}
	sort.Strings(resources)
	for _, r := range resources {
		w.forget(n, history.Event{Resource: r, Token: n.keys[r].token, Reason: reason, Fault: fault})
	}
}
