package sim

import (
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// node is one Redis master: a key store whose keys expire by its wall clock.
type node struct {
	id   int
	wall clock
	down bool
	keys map[string]key
}

type key struct {
	token  string
	expiry int64 // the last millisecond of the node's wall clock in which it lives
}

func newNode(id int) node {
	return node{id: id, wall: clock{shown: epoch}, keys: map[string]key{}}
}

// millis reads the node's clock as Redis does, in whole milliseconds.
func (n *node) millis(now int64) int64 { return n.wall.at(now) / int64(time.Millisecond) }

// execute carries out one command. Expired keys are found when they are
// touched; like Redis, the node counts a key as expired when its clock shows a
// later millisecond than the expiry.
func (w *World) execute(n *node, by int, command env.Command) env.Answer {
	millis := n.millis(w.now)
	held, exists := n.keys[command.Key]
	if exists && millis > held.expiry {
		w.forget(n, command.Key, held.token, "expired", 0)
		exists = false
	}
	mine := exists && held.token == command.Token
	expiry := millis + command.TTL.Milliseconds()
	switch {
	case command.Op == env.OpSet && !exists:
		n.keys[command.Key] = key{token: command.Token, expiry: expiry}
		w.carrier.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: command.Key, Token: command.Token, Client: by})
		return env.Yes
	case command.Op == env.OpDelete && mine:
		w.forget(n, command.Key, command.Token, "deleted", by)
		return env.Yes
	case command.Op == env.OpExtend && mine:
		held.expiry = max(held.expiry, expiry)
		n.keys[command.Key] = held
		w.carrier.Record(history.Event{Kind: history.KeyExtended, Node: n.id, Resource: command.Key, Token: command.Token, Client: by})
		return env.Yes
	}
	return env.No
}

func (w *World) forget(n *node, resource, token, reason string, by int) {
	delete(n.keys, resource)
	w.carrier.Record(history.Event{Kind: history.KeyGone, Node: n.id, Resource: resource, Token: token, Reason: reason, Client: by})
}

// forgetAll empties the node, in an order that does not depend on the map's.
func (w *World) forgetAll(n *node) {
	resources := make([]string, 0, len(n.keys))
	for r := range n.keys {
		resources = append(resources, r)
	}
	sort.Strings(resources)
	for _, r := range resources {
		w.forget(n, r, n.keys[r].token, "forgotten", 0)
	}
}
