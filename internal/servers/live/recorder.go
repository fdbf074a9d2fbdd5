package live

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
)

// recorder writes the history, in the order of time. What happens in this process it
// stamps itself and passes on at once, in one critical section. Where clients are
// processes of their own, which stamp what they do and are heard of later, everything is
// held back until all of it is known. It takes no other lock but that of clocks.
type recorder struct {
	mu       sync.Mutex
	sink     history.Sink
	ground   ground
	origin   env.Instant // the begin of the run
	last     history.Time
	phase    phase
	expiries *world.LeaseExpiries
	hands    []clockReadings // of the clients, from 0, at the time up to which the history is written
	dead     map[int]bool    // clients that are heard no more

	deferred bool // some are heard of later
	entries  []entry
	end      history.Event // if sealed
}

// entry is something that has happened and is held back.
type entry struct {
	at    history.Time
	write func()
}

type phase uint8

const (
	idle phase = iota
	running
	sealed
	settled
)

// justNow is the stamp of what happens in this process: it is put on in the critical
// section.
const justNow env.Instant = math.MinInt64

func newRecorder(sink history.Sink, g ground) *recorder {
	r := &recorder{sink: sink, ground: g, dead: map[int]bool{}}
	r.expiries = world.NewLeaseExpiries(r.expiryTime, r.emit)
	return r
}

// begin makes this instant the time 0. It returns false if it has been called
// before.
func (r *recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != idle {
		return false
	}
	r.phase, r.origin = running, r.ground.shows(env.Monotonic)
	return true
}

// seal makes this instant the end: what has happened before and is heard of later still
// belongs to the history, until it is settled.
func (r *recorder) seal(end *history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == running {
		r.phase, r.end = sealed, *end
		r.end.Time = r.now()
	}
}

// flush writes what has been held back, by time, and the end. Of two entries of one
// time that goes first which was heard of first: whoever acts because of what another
// has done is heard of after that.
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

// now is the time since the run began.
func (r *recorder) now() history.Time {
	return history.Time(r.ground.shows(env.Monotonic).Sub(r.origin))
}

// add writes something that happened at an instant of the machine's monotonic clock, or
// holds it back. It is not told of a client that was dead then; client 0 is the world.
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

// writeOrDefer is the part of add that has to be in the critical section.
func (r *recorder) writeOrDefer(at history.Time, write func()) {
	switch {
	case r.phase != running && (r.phase != sealed || at >= r.end.Time):
	case r.deferred:
		r.entries = append(r.entries, entry{at, write})
	default:
		write()
	}
}

// clientEvent writes what a client tells, unless it is dead.
func (r *recorder) clientEvent(happened env.Instant, e history.Event) {
	r.add(e.Client, happened, func(at history.Time) { r.write(at, e) })
}

// worldEvent writes what the world has done. A kill is the last that is heard of
// its client.
func (r *recorder) worldEvent(e history.Event) {
	r.add(0, justNow, func(at history.Time) {
		r.write(at, e)
		if e.Kind == history.Kill {
			r.dead[e.Client] = true
		}
	})
}

// keyEvent writes what has become of a key, by a request that was sent at an instant of the
// machine's monotonic clock.
func (r *recorder) keyEvent(e history.Event, sent env.Instant) {
	r.add(0, justNow, func(at history.Time) {
		if e.Kind == history.KeySet {
			e.Sent = history.Time(sent.Sub(r.origin))
		}
		r.write(at, e)
	})
}

// watch asks for a lapse. What a client that is dead now has asked for last
// stands.
func (r *recorder) watch(happened env.Instant, client int, w watch) {
	r.add(client, happened, func(at history.Time) { r.expiries.Watch(at, client, w.Clock, w.Resource, w.Token, w.Until) })
}

// watch is what a client asks for that wants a lapse told.
type watch struct {
	Clock    env.Clock
	Resource string
	Token    string
	Until    env.Instant
}

// unwatch withdraws what was asked for.
func (r *recorder) unwatch(happened env.Instant, client int, token string) {
	r.add(client, happened, func(at history.Time) { r.expiries.Unwatch(at, client, token) })
}

// clocksChange lets a client's clocks be changed, and is told how they run then: what has
// come due by them as they were comes first.
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

// expiryTime is when the client's clock comes to until.
func (r *recorder) expiryTime(client int, clock env.Clock, until env.Instant) history.Time {
	due := r.hands[client-1].due(r.ground, clock, until)
	if due == env.Never {
		return math.MaxInt64
	}
	return history.Time(due.Sub(r.origin))
}

// write passes an event on with its time, behind the lapses that have come due before
// it.
func (r *recorder) write(at history.Time, e history.Event) {
	e.Time = at
	r.expiries.Flush(at)
	r.emit(&e)
}

// emit passes an event on with the time that it bears, unless that lies before
// the last event's: a lapse can be heard of late.
func (r *recorder) emit(e *history.Event) {
	r.last = max(r.last, e.Time)
	e.Time = r.last
	r.sink.Record(e)
}
