package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// keepJournal returns the node's journal, for a fault of the plan that takes
// changes back. It has to be called before the run.
func (w *World) keepJournal(n *node) *journal {
	if n.journal == nil {
		phase := w.source(choice.ForSyncPhases, 0, fmt.Sprintf("phase of the syncs of node %d", n.id))
		n.journal = &journal{
			phase:  int64(phase.fixed() % uint64(time.Second)),
			random: w.source(choice.ForReplication, 0, fmt.Sprintf("replication of node %d", n.id)),
		}
	}
	return n.journal
}

// keepReplica keeps the journal of a node whose replica a fault promotes.
func (w *World) keepReplica(node int) {
	w.keepJournal(w.node(node)).lag = w.setting.Replication.Table()
}

// keepSnapshots keeps the journal of a node that a fault restores at such an age.
func (w *World) keepSnapshots(node int, age time.Duration) {
	j := w.keepJournal(w.node(node))
	j.age = max(j.age, int64(age))
}

// synced returns the position to which a loss of power takes a node back if no sync has completed
// since a ground time. A sync comes between two commands, which make their changes at one instant.
func (w *World) synced(n *node, since int64) int {
	j := n.journal
	if w.few == nil {
		return j.synced(since)
	}
	var positions []int
	last := max(j.durable, j.asOf(since))
	for at := j.syncedBefore(since); at <= last; at++ {
		if i := at - j.dropped; at == last || i == 0 || j.changes[i-1].at < j.changes[i].at {
			positions = append(positions, at)
		}
	}
	return w.position(choice.ForSyncPhases, n, j.synced(since), positions)
}

// replicated returns the position of the state that a node's replica has when it takes over.
func (w *World) replicated(n *node) int {
	j := n.journal
	if w.few == nil {
		return j.replicated(w.now)
	}
	var positions []int
	for at := j.arrivedBefore(w.now); at <= max(j.durable, j.asOf(w.now-int64(j.lag.Range().Min))); at++ {
		positions = append(positions, at)
	}
	return w.position(choice.ForReplication, n, j.replicated(w.now), positions)
}

// rollBack restores a node's keys at a position of its journal. That is a change itself,
// which an older snapshot may not have.
func (w *World) rollBack(n *node, to int) {
	j := n.journal
	oldest := map[int32]change{}
	for i := len(j.changes) - 1; i >= to-j.dropped; i-- {
		oldest[j.changes[i].key] = j.changes[i]
	}
	changed := slices.Collect(maps.Keys(oldest))
	w.keyNames.sort(changed)
	for _, number := range changed {
		w.restoreKey(n, oldest[number])
	}
	j.markDurable()
}

// restoreKey restores a key as it was before a change, or deletes it if it would have
// expired by now. If only the expiry changes, it is the same key, and the history has no
// event.
func (w *World) restoreKey(n *node, c change) {
	now, exists := n.keys.get(c.key)
	lives := c.existed && (!c.before.volatile() || n.expires(c.before) > w.now)
	same := exists && lives && now.token == c.before.token
	if exists && !same {
		w.forget(n, c.key, history.Event{Token: now.token, Reason: history.RolledBack})
	}
	if lives {
		w.put(n, c.key, c.before)
		if w.restored != nil && !c.before.counter {
			w.restored(n.id, w.keyNames.list[c.key], c.before.token, c.before.expiry, n.ends(c.before))
		}
		if !same && !c.before.counter {
			w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: w.keyNames.list[c.key], Token: c.before.token, Ends: n.ends(c.before)})
		}
	}
}

// keepWritten applies what a node loses when its process dies. What the process has
// written to a file survives in the kernel.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.markDurable()
	}
}

// keepSynced applies what a node loses when its machine loses power: every change
// that was not synced. syncing says that a sync was in progress: a fault that causes one
// has to keep the journal (see the handler of PowerLoss). stuck is for how long the disk
// had completed no sync. A record that the power loss tore was not synced, so loading the
// records before it loses nothing more.
func (w *World) keepSynced(n *node, syncing bool, stuck time.Duration) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, w.synced(n, w.now-int64(stuck)))
	case syncing: // the command that waits for the sync was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}

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
