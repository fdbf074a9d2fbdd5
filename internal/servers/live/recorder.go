package live

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/world"
)

// recorder writes the history in the order of time. It stamps what happens in this process
// and writes it in the same critical section. If clients are processes, which stamp their
// reports themselves, all events are kept until the end of the run and sorted. It takes no
// lock except that of clocks.
type recorder struct {
	mu       sync.Mutex
	sink     history.Sink
	ground   ground
	origin   env.Instant // the beginning of the run
	last     history.Time
	phase    phase
	expiries *world.LeaseExpiries
	hands    []clockReadings      // the clients' clocks, from 0, as of the last event written
	tries    tries                // as of the last event written
	requests *keywatch.Requests   // of an external lock, then the same as tries; nil: it is of this program
	gaps     map[int]history.Time // when the watch of a node's keys, or of entries (0), last began anew
	looks    map[int]env.Instant  // up to when it has recorded all changes
	dead     map[int]bool         // clients whose later events are ignored

	deferred bool // some clients report later
	entries  []entry
	end      history.Event // the end event, once sealed
}

// entry is an event that is kept.
type entry struct {
	at    history.Time
	write func()
}

// tries knows whose a key or an entry is.
type tries interface {
	// Note gets each event of a client.
	Note(e *history.Event)

	// Complete adds to a change who made it. It returns false if the change is of no lock.
	Complete(e *history.Event) bool
}

type phase uint8

const (
	idle phase = iota
	running
	sealed
	settled
)

// justNow stands for the time at which the critical section is entered. It is the stamp of
// what happens in this process.
const justNow env.Instant = math.MinInt64

func newRecorder(sink history.Sink, g ground) *recorder {
	r := &recorder{sink: sink, ground: g, tries: &world.Tries{}, dead: map[int]bool{}, gaps: map[int]history.Time{}, looks: map[int]env.Instant{}}
	r.expiries = world.NewLeaseExpiries(r.expiryTime, r.emit)
	return r
}

// begin makes now the time 0. It returns false if it was called before.
func (r *recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != idle {
		return false
	}
	r.phase, r.origin = running, r.ground.shows(env.Monotonic)
	return true
}

// seal makes now the end of the history. Events that happened before and are reported later
// still belong to it, until flush.
func (r *recorder) seal(end *history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == running {
		r.phase, r.end = sealed, *end
		r.end.Time = r.now()
	}
}

// flush writes the events that were kept, by time, and the end. Of two events with the same
// time the one that was reported first goes first: whoever acts because of another's action
// reports later.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != sealed {
		return
	}
	slices.SortStableFunc(r.entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for _, e := range r.entries {
		e.write()
	}
	r.entries = nil
	r.expiries.Flush(r.end.Time)
	r.emit(&r.end)
	r.phase = settled
}

// now returns the time since the run began.
func (r *recorder) now() history.Time {
	return history.Time(r.ground.shows(env.Monotonic).Sub(r.origin))
}

// elapsed is now for those who do not hold the lock. Before the run it is 0.
func (r *recorder) elapsed() history.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == idle {
		return 0
	}
	return r.now()
}

// add writes an event that happened at an instant of the machine's monotonic clock, or
// keeps it. It ignores clients that were dead then. Client 0 is the world.
func (r *recorder) add(client int, happened env.Instant, write func(at history.Time)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := history.Time(happened.Sub(r.origin))
	if happened == justNow {
		at = r.now()
	}
	r.writeOrDefer(at, func() {
		if !r.dead[client] {
			write(at)
		}
	})
}

// writeOrDefer is the part of add in the critical section.
func (r *recorder) writeOrDefer(at history.Time, write func()) {
	switch {
	case r.phase != running && (r.phase != sealed || at >= r.end.Time):
	case r.deferred:
		r.entries = append(r.entries, entry{at, write})
	default:
		write()
	}
}

// clientEvent records an event of a client, unless the client is dead.
func (r *recorder) clientEvent(happened env.Instant, e history.Event) {
	r.add(e.Client, happened, func(at history.Time) {
		if e.Until != 0 && (e.Kind == history.Granted || e.Kind == history.Extended) {
			e.Ends = r.expiries.Due(e.Client, e.Token)
		}
		r.write(at, e)
		e.Time = at
		r.tries.Note(&e)
	})
}

// worldEvent records an event of the world. After a kill the client's events are ignored.
func (r *recorder) worldEvent(e history.Event) {
	r.add(0, justNow, func(at history.Time) {
		r.write(at, e)
		if e.Kind == history.Kill {
			r.dead[e.Client] = true
		}
	})
}

// keyEvent records a change of a key, caused by a request that was sent at an instant of
// the machine's monotonic clock, on which Ends is, too.
func (r *recorder) keyEvent(e history.Event, sent env.Instant) {
	r.add(0, justNow, func(at history.Time) {
		if e.Kind == history.KeySet {
			e.Sent = history.Time(sent.Sub(r.origin))
		}
		if e.Ends != 0 {
			e.Ends = history.Time(env.Instant(e.Ends).Sub(r.origin))
		}
		r.write(at, e)
	})
}

// watch asks for an event when a lease ends. The last request of a client that dies stays.
func (r *recorder) watch(happened env.Instant, client int, w watch) {
	r.add(client, happened, func(at history.Time) { r.expiries.Watch(at, client, w.Clock, w.Resource, w.Token, w.Until) })
}

// watch is a client's request for an event when a lease ends.
type watch struct {
	Clock    env.Clock
	Resource string
	Token    string
	Until    env.Instant
}

// unwatch cancels such a request.
func (r *recorder) unwatch(happened env.Instant, client int, token string) {
	r.add(client, happened, func(at history.Time) { r.expiries.Unwatch(at, client, token) })
}

// seen notes that the watch of a node's keys, or of entries (0), has recorded all changes before an
// instant.
func (r *recorder) seen(node int, before env.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks[node] = before
}

// sawAll reports whether the watches of nodes have recorded all changes before an instant.
func (r *recorder) sawAll(nodes []int, before env.Instant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(nodes, func(node int) bool { return r.looks[node] < before })
}

// clocksChange changes a client's clocks by calling change, which returns them. Leases that
// end by the clocks as they were are recorded first.
func (r *recorder) clocksChange(client int, change func() clockReadings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.now()
	changed := change()
	r.writeOrDefer(at, func() {
		r.expiries.Flush(at)
		r.hands[client-1] = changed
		r.expiries.ClockChanged(at, client)
	})
}

// expiryTime returns when the client's clock reaches until.
func (r *recorder) expiryTime(client int, clock env.Clock, until env.Instant) history.Time {
	due := r.hands[client-1].due(r.ground, clock, until)
	if due == env.Never {
		return math.MaxInt64
	}
	return history.Time(due.Sub(r.origin))
}

// write writes an event at its time, after the leases that have ended before.
func (r *recorder) write(at history.Time, e history.Event) {
	e.Time = at
	r.expiries.Flush(at)
	r.emit(&e)
}

// emit writes an event. If its time is before the last event's, it gets that time: the end
// of a lease can be noticed late.
func (r *recorder) emit(e *history.Event) {
	r.last = max(r.last, e.Time)
	e.Time = r.last
	r.sink.Record(e)
}
