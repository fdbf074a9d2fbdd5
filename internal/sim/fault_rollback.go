package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var rollbackFaults = handlers{
	// A master and its replica are one node with one wall clock. After a failover the
	// new master has a replica too, which starts in sync.
	handler[*nemesis.Failover]{
		Prepare: func(w *World, f injection[*nemesis.Failover]) {
			w.keepJournal(w.node(f.Action.Node)).lag = w.setting.Replication.Table()
		},
		Begin: func(w *World, f injection[*nemesis.Failover]) error {
			n := w.node(f.Action.Node)
			w.goDown(n, "as its replica, with the keys that had come to it")
			w.rollBack(n, n.journal.replicated(w.now))
			return nil
		},
		End: func(w *World, f injection[*nemesis.Failover]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	// A split brain gives a node a second master until the fault ends. The history shows one
	// node, which has the keys of both. Its links count as down, because clients that reach
	// different masters see different keys. Other faults of the node affect the old master,
	// except for clock faults, which affect both.
	handler[*nemesis.SplitBrain]{
		Prepare: func(w *World, f injection[*nemesis.SplitBrain]) {
			w.keepJournal(w.node(f.Action.Node)).lag = w.setting.Replication.Table()
		},
		Begin: func(w *World, f injection[*nemesis.SplitBrain]) error {
			n := w.node(f.Action.Node)
			w.links.Disturb(nemesis.Links{Nodes: []int{n.id}}, untouched)
			w.promote(n, f.Action)
			return nil
		},
		End: func(w *World, f injection[*nemesis.SplitBrain]) error {
			n := w.node(f.Action.Node)
			w.demote(n)
			w.letGo(nemesis.Links{Nodes: []int{n.id}}, untouched)
			return nil
		},
	},
	handler[*nemesis.OldSnapshot]{
		Prepare: func(w *World, f injection[*nemesis.OldSnapshot]) {
			j := w.keepJournal(w.node(f.Action.Node))
			j.age = max(j.age, int64(f.Action.Age))
		},
		Begin: func(w *World, f injection[*nemesis.OldSnapshot]) error {
			n := w.node(f.Action.Node)
			w.goDown(n, fmt.Sprintf("with the keys of a snapshot %v old", f.Action.Age))
			w.rollBack(n, n.journal.asOf(w.now-int64(f.Action.Age)))
			return nil
		},
		End: func(w *World, f injection[*nemesis.OldSnapshot]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	// A restore takes back the whole machine. The server does not notice, so its run id stays.
	// Its scripts are those of now; a missing one costs a client a round trip.
	handler[*nemesis.VMRestore]{
		Features: []nemesis.Feature{nemesis.NodeClockFeature},
		Prepare: func(w *World, f injection[*nemesis.VMRestore]) {
			j := w.keepJournal(w.node(f.Action.Node))
			j.age = max(j.age, int64(f.Action.Age))
		},
		Begin: func(w *World, f injection[*nemesis.VMRestore]) error {
			n := w.node(f.Action.Node)
			w.clocks.BeginRestore(f)
			w.vanish(n, fmt.Sprintf("as its machine was %v before, in the same run", f.Action.Age))
			w.silence(n, f.ForGood)
			n.recovery.state = snapshot{w.now - int64(f.Action.Age), n.journal.asOf(w.now - int64(f.Action.Age))}
			return nil
		},
		End: func(w *World, f injection[*nemesis.VMRestore]) error {
			n := w.node(f.Action.Node)
			then := n.recovery.state
			w.clocks.EndRestore(f)
			w.rollBack(n, then.position)
			maps.DeleteFunc(n.attested, func(_ time.Duration, v attestation) bool { return v.at > then.at })
			w.resume(n)
			return nil
		},
	},
}

// promote makes a node's replica a second master. The replica is another process: it has
// its own run id and no scripts.
func (w *World) promote(n *node, split *nemesis.SplitBrain) {
	heir := &node{id: n.id, wall: n.wall, mono: n.mono, run: n.run + 1, keys: n.at(n.journal.replicated(w.now)), server: server{answering: nothing, fsync: n.fsync, random: n.random}}
	heir.loadLater()
	maps.DeleteFunc(heir.keys, func(_ string, k key) bool { return k.volatile() && heir.expires(k) <= w.now })
	n.peer, heir.peer, n.split = heir, n, split
	w.nextExpiry = w.now // to be computed again
	for _, resource := range slices.Sorted(maps.Keys(heir.keys)) {
		if k := heir.keys[resource]; !n.keeps(resource, k.token) {
			w.showKept(heir, resource, k.token)
		}
	}
}

// demote ends a node's old master. The new one replaces it.
func (w *World) demote(n *node) {
	heir := n.peer
	w.expireKeys()
	for _, client := range w.clients {
		if n.split.Old(client.id) {
			w.breakUnderWay(client.id, n.id, nemesis.Requests)
		}
	}
	lost := n.unanswered()
	n.peer, heir.peer, n.split = nil, nil, nil
	for _, i := range lost {
		w.breakOff(i)
	}
	for _, resource := range slices.Sorted(maps.Keys(n.keys)) {
		if k := n.keys[resource]; heir.keeps(resource, k.token) {
			w.drop(n, resource)
		} else {
			w.forget(n, history.Event{Resource: resource, Token: k.token, Reason: history.RolledBack})
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(heir.keys)) {
		w.put(n, resource, heir.keys[resource])
	}
	n.journal.settle()
	n.run, n.attested, n.unscripted = heir.run, heir.attested, heir.unscripted
	n.deaths++ // nobody waits for the syncs of the old one
	n.syncing, n.answering, n.waiting = false, heir.answering, heir.waiting
	heir.deaths++
	w.proceed(n)
}

// at returns the node's keys at a position of its journal.
func (n *node) at(position int) map[string]key {
	keys := maps.Clone(n.keys)
	for _, c := range slices.Backward(n.journal.changes[max(position-n.journal.dropped, 0):]) {
		if c.existed {
			keys[c.resource] = c.before
		} else {
			delete(keys, c.resource)
		}
	}
	return keys
}

// keeps reports whether a master has a key with that token.
func (n *node) keeps(resource, token string) bool {
	k, exists := n.keys[resource]
	return exists && k.token == token
}

// showKept records that a node has a key which no client has set there.
func (w *World) showKept(n *node, resource, token string) {
	if !n.keys[resource].counter {
		w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: resource, Token: token})
	}
}

// showPeer records that a key which one of two masters has lost is still on the other.
func (w *World) showPeer(n *node, resource, token string) {
	if n.peer != nil && n.peer.keeps(resource, token) {
		w.showKept(n.peer, resource, token)
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
