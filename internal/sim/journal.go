package sim

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// journal is what a node's keys were before each of its changes, so that the
// node can be taken back to an earlier state. It reaches back only as far as
// some fault of the plan can need it.
//
// A position in it is the state before the change of that number, counted from
// the begin of the run.
type journal struct {
	changes []change // the oldest that is kept first
	dropped int      // changes that are no longer kept
	trimAt  int      // how many have to be kept for a look at which can go

	// What it is kept for, and how far each loses what is recent.
	everySecond bool           // a loss of power leads back to the last sync
	phase       int64          // ground time of a sync, ns; there is one each second before and after
	stuck       int64          // the longest that a loss of power finds the disk stuck, ns
	command     int            // where the latest command began; while it waits for its sync, a loss of power leads back there
	lag         *nemesis.Table // to the replica; nil: nobody asks for one
	random      *rand.PCG      // of the lag
	arrived     int64          // when the latest change comes to the replica
	age         int64          // of the oldest snapshot, ns; 0: nobody asks for one
	firm        int            // what is before is on the disk, and has come to the replica
}

// change is what a key was before it was changed.
type change struct {
	at       int64 // ground time
	arrives  int64 // at the replica
	resource string
	before   key
	existed  bool
}

// keepJournal returns the node's journal, for a fault of the plan that takes
// changes back. It has to be called before the run.
func (w *World) keepJournal(n *node) *journal {
	if n.journal == nil {
		phase := nemesis.Stream(w.seed, fmt.Sprintf("phase of the syncs of node %d", n.id))
		n.journal = &journal{
			phase:  int64(phase.Uint64() % uint64(time.Second)),
			random: nemesis.Stream(w.seed, fmt.Sprintf("replication of node %d", n.id)),
		}
	}
	return n.journal
}

// enter notes what a key is that is about to change.
func (w *World) enter(n *node, resource string) {
	j := n.journal
	before, existed := n.keys[resource]
	c := change{at: w.now, resource: resource, before: before, existed: existed}
	if j.lag != nil {
		j.arrived = max(j.arrived, w.now+int64(j.lag.Draw(j.random.Uint64())))
		c.arrives = j.arrived
	}
	j.changes = append(j.changes, c)
}

// leastTrim is how many changes are kept without looking which can go.
const leastTrim = 64

// trim drops what nobody can need any more. It waits until as much again has
// been added as was left, so that a change costs little on average.
func (j *journal) trim(now int64) {
	keep := j.end()
	if j.everySecond {
		keep = min(keep, j.synced(now-j.stuck))
	}
	if j.lag != nil {
		keep = min(keep, j.replicated(now))
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

// begin says that a command begins; all before it are synced by then, if each
// has to be.
func (j *journal) begin(now int64) {
	if len(j.changes) >= j.trimAt {
		j.trim(now)
	}
	j.command = j.end()
}

// end is the position of the present state.
func (j *journal) end() int { return j.dropped + len(j.changes) }

// asOf is the position of the state at a ground time, with the changes of that
// very instant.
func (j *journal) asOf(at int64) int {
	return j.dropped + sort.Search(len(j.changes), func(i int) bool { return j.changes[i].at > at })
}

// synced is the position of what the disk has under aof-everysec, on which no sync has
// completed since a ground time.
func (j *journal) synced(now int64) int { return max(j.firm, j.asOf(lastSync(now, j.phase))) }

// lastSync is the latest ground time up to now that is whole seconds away from
// the phase.
func lastSync(now, phase int64) int64 {
	since := (now - phase) % int64(time.Second)
	if since < 0 {
		since += int64(time.Second)
	}
	return now - since
}

// replicated is the position of what the replica has.
func (j *journal) replicated(now int64) int {
	open := j.changes[max(j.firm-j.dropped, 0):]
	return j.end() - len(open) + sort.Search(len(open), func(i int) bool { return open[i].arrives > now })
}

// settle says that the present state is on the disk and at the replica: a
// server that comes up has read the one and filled the other.
func (j *journal) settle() {
	if j != nil {
		j.firm, j.arrived = j.end(), math.MinInt64
	}
}

// rollBack takes a node's keys back to what they were at a position of its
// journal. That is a change as well, which an older snapshot may not have.
func (w *World) rollBack(n *node, to int) {
	j := n.journal
	oldest := map[string]change{}
	for i := len(j.changes) - 1; i >= to-j.dropped; i-- {
		oldest[j.changes[i].resource] = j.changes[i]
	}
	for _, resource := range slices.Sorted(maps.Keys(oldest)) {
		w.takeBack(n, oldest[resource])
	}
	j.settle()
}

// takeBack makes a key what it was before a change: gone as well, if it would
// have expired by now. A key that is merely to expire earlier again is the same
// key, and the history has no event for it.
func (w *World) takeBack(n *node, c change) {
	now, exists := n.keys[c.resource]
	lives := c.existed && (!c.before.volatile() || n.expires(c.before) > w.now)
	same := exists && lives && now.token == c.before.token
	if exists && !same {
		w.forget(n, history.Event{Resource: c.resource, Token: now.token, Reason: history.RolledBack})
	}
	if lives {
		w.put(n, c.resource, c.before)
		if !same && !c.before.counter {
			w.injector.Record(history.Event{Kind: history.KeySet, Node: n.id, Resource: c.resource, Token: c.before.token})
		}
	}
}
