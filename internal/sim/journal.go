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

// keepReplica keeps the journal of a node whose replica a fault promotes.
func (w *World) keepReplica(node int) {
	w.keepJournal(w.node(node)).lag = w.setting.Replication.Table()
}

// keepSnapshots keeps the journal of a node that a fault restores at such an age.
func (w *World) keepSnapshots(node int, age time.Duration) {
	j := w.keepJournal(w.node(node))
	j.age = max(j.age, int64(age))
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

// keepWritten applies what a node loses when its process dies. What the process has
// written to a file survives in the kernel.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.markDurable()
	}
}

// keepSynced applies what a node loses when its machine loses power: every change
// that was not synced. syncing says that a sync was in progress; stuck is for how long
// the disk had completed no sync. A record that the power loss tore was not synced, so
// loading the records before it loses nothing more.
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
