package sim

import (
	"math"
	"slices"
	"sort"
	"time"

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

// markDurable marks the present state as being on disk and at the replica: a server that
// starts has loaded the former and filled the latter.
func (j *journal) markDurable() {
	if j != nil {
		j.durable, j.arrived = j.end(), math.MinInt64
	}
}
