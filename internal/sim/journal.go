package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// journal records the previous value of a node's keys at each change, so that the node can
// be rolled back. It reaches back only as far as some fault of the plan needs.
//
// A position in it is the state before the change of that number, counted from the start
// of the run.
type journal struct {
	changes []change // the oldest that is kept first
	dropped int      // changes that are no longer kept
	trimAt  int      // how many have to be kept for a look at which can go

	// Who needs the journal, and how far back each state can be restored.
	everySecond bool           // a loss of power leads back to the last sync
	phase       int64          // ground time of a sync, ns; there is one each second before and after
	maxStall    int64          // the longest that a loss of power finds the disk stuck, ns
	command     int            // where the latest command began; while it waits for its sync, a loss of power leads back there
	lag         *nemesis.Table // of the replica; nil: no fault needs it
	random      *source        // of the lag
	arrived     int64          // when the latest change comes to the replica
	age         int64          // of the oldest snapshot, ns; 0: no fault needs one
	durable     int            // what is before is on the disk, and has come to the replica
}

// change is the value of a key before a change.
type change struct {
	at      int64 // ground time
	arrives int64 // at the replica
	key     int32
	before  key
	existed bool
}

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

// journalChange records a key that is about to change.
func (w *World) journalChange(n *node, number int32) {
	j := n.journal
	before, existed := n.keys.get(number)
	c := change{at: w.now, key: number, before: before, existed: existed}
	if j.lag != nil {
		j.arrived = max(j.arrived, w.now+int64(j.lag.Draw(j.random.fixed())))
		c.arrives = j.arrived
	}
	j.changes = append(j.changes, c)
}

// leastTrim is the number of changes that are kept without checking which can be dropped.
const leastTrim = 64

// trim drops what no fault can need any more. It runs when the journal has doubled, so
// that a change costs little on average.
func (j *journal) trim(now int64) {
	keep := j.end()
	if j.everySecond {
		keep = min(keep, j.syncedBefore(now-j.maxStall))
	}
	if j.lag != nil {
		keep = min(keep, j.arrivedBefore(now))
	}
	if j.age > 0 {
		keep = min(keep, j.asOf(now-j.age))
	}
	if gone := keep - j.dropped; gone > 0 {
		j.changes = slices.Delete(j.changes, 0, gone)
		j.dropped = keep
	}
	j.trimAt = max(leastTrim, 2*len(j.changes))
}

// begin marks the start of a command. With a sync for each command, all earlier ones are
// synced.
func (j *journal) begin(now int64) {
	if len(j.changes) >= j.trimAt {
		j.trim(now)
	}
	j.command = j.end()
}

// end returns the position of the present state.
func (j *journal) end() int { return j.dropped + len(j.changes) }

// asOf returns the position of the state at a ground time, including the changes at that
// instant.
func (j *journal) asOf(at int64) int {
	return j.dropped + sort.Search(len(j.changes), func(i int) bool { return j.changes[i].at > at })
}

// synced returns the position of what the disk has under aof-everysec, if no sync has
// completed since a ground time.
func (j *journal) synced(now int64) int { return max(j.durable, j.asOf(lastSync(now, j.phase))) }

// syncedBefore returns the position of what the disk has for certain, whenever in a second it is synced.
func (j *journal) syncedBefore(now int64) int {
	return max(j.durable, j.asOf(now-int64(time.Second)+1))
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

// lastSync is the latest ground time up to now that is whole seconds away from
// the phase.
func lastSync(now, phase int64) int64 {
	since := (now - phase) % int64(time.Second)
	if since < 0 {
		since += int64(time.Second)
	}
	return now - since
}

// replicated returns the position of the replica's state.
func (j *journal) replicated(now int64) int {
	open := j.changes[max(j.durable-j.dropped, 0):]
	return j.end() - len(open) + sort.Search(len(open), func(i int) bool { return open[i].arrives > now })
}

// arrivedBefore returns the position of what has come to the replica for certain.
func (j *journal) arrivedBefore(now int64) int {
	return max(j.durable, j.asOf(now-int64(j.lag.Range().Max)))
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

// markDurable marks the present state as being on disk and at the replica: a server that
// starts has loaded the former and filled the latter.
func (j *journal) markDurable() {
	if j != nil {
		j.durable, j.arrived = j.end(), math.MinInt64
	}
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
		if !same && !c.before.counter {
			w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: w.keyNames.list[c.key], Token: c.before.token})
		}
	}
}

var rollbackFaults = handlers{
	// A master and its replica are one node with one wall clock. After a failover the
	// new master has a replica too, which starts in sync.
	handler[*nemesis.Failover]{
		Prepare: func(w *World, f injection[*nemesis.Failover]) {
			w.keepJournal(w.node(f.Action.Node)).lag = w.setting.Replication.Table()
		},
		Begin: func(w *World, f injection[*nemesis.Failover]) error {
			n := w.node(f.Action.Node)
			w.crash(n, "as its replica, with the keys that had come to it")
			w.rollBack(n, w.replicated(n))
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
			w.endLinkFault(nemesis.Links{Nodes: []int{n.id}}, untouched)
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
			w.crash(n, fmt.Sprintf("with the keys of a snapshot %v old", f.Action.Age))
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
			w.clocks.Begin(f.Number, f.Action.Effects(w.setting).Clock)
			w.vanish(n, fmt.Sprintf("as its machine was %v before, in the same run", f.Action.Age))
			w.makeUnreachable(n, f.ForGood)
			n.recovery.state = snapshot{w.now - int64(f.Action.Age), n.journal.asOf(w.now - int64(f.Action.Age))}
			return nil
		},
		End: func(w *World, f injection[*nemesis.VMRestore]) error {
			n := w.node(f.Action.Node)
			then := n.recovery.state
			w.clocks.End(f.Number, f.Action.Effects(w.setting).Clock)
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
