package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// promote makes a node's replica a second master. The replica is another process: it has
// its own run id and no scripts.
func (w *World) promote(n *node, split *nemesis.SplitBrain) {
	heir := &node{id: n.id, wall: n.wall, mono: n.mono, run: n.run + 1, keys: n.at(w.replicated(n)), server: server{answering: noMessage, fsync: n.fsync, random: n.random}}
	heir.forgetScripts()
	heir.keys.keep(func(k key) bool { return !k.volatile() || heir.expires(k) > w.now })
	n.peer, heir.peer, n.split = heir, n, split
	w.nextExpiry = w.now // to be computed again
	for _, number := range heir.keys.inOrder() {
		if k, _ := heir.keys.get(number); !n.keeps(number, k.token) {
			w.showKept(heir, number, k.token)
		}
	}
}

// demote ends a node's old master. The new one replaces it.
func (w *World) demote(n *node) {
	heir := n.peer
	w.expireKeys()
	for _, client := range w.clients {
		if n.split.Old(client.id) {
			w.resetUnderWay(client.id, n.id, nemesis.Requests)
		}
	}
	lost := n.unanswered()
	n.peer, heir.peer, n.split = nil, nil, nil
	for _, i := range lost {
		w.resetConnection(i)
	}
	for _, number := range n.keys.inOrder() {
		if k, _ := n.keys.get(number); heir.keeps(number, k.token) {
			w.drop(n, number)
		} else {
			w.forget(n, number, history.Event{Token: k.token, Reason: history.RolledBack})
		}
	}
	for _, number := range heir.keys.inOrder() {
		k, _ := heir.keys.get(number)
		w.put(n, number, k)
	}
	n.journal.markDurable()
	n.run, n.attested, n.scriptMissing = heir.run, heir.attested, heir.scriptMissing
	n.stops++ // cancels the syncs of the old master
	n.syncing, n.answering, n.waiting = false, heir.answering, heir.waiting
	heir.stops++
	w.proceed(n)
}

// at returns the node's keys at a position of its journal.
func (n *node) at(position int) keyspace {
	keys := n.keys.clone()
	for _, c := range slices.Backward(n.journal.changes[max(position-n.journal.dropped, 0):]) {
		if c.existed {
			keys.put(c.key, c.before)
		} else {
			keys.drop(c.key)
		}
	}
	return keys
}

// keeps reports whether a master has a key with that token.
func (n *node) keeps(number int32, token string) bool {
	k, exists := n.keys.get(number)
	return exists && k.token == token
}

// showKept records that a node has a key which no client has set there.
func (w *World) showKept(n *node, number int32, token string) {
	if k, _ := n.keys.get(number); !k.counter {
		w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: w.keyNames.list[number], Token: token})
	}
}

// showPeer records that a key which one of two masters has lost is still on the other.
func (w *World) showPeer(n *node, number int32, token string) {
	if n.peer != nil && n.peer.keeps(number, token) {
		w.showKept(n.peer, number, token)
	}
}

// reached returns the master that a message has arrived at.
func (w *World) reached(m *message) *node {
	n := &w.nodes[m.node-1]
	if n.peer != nil && m.storeRequest == nil && !n.split.Old(int(m.client)) {
		return n.peer
	}
	return n
}
