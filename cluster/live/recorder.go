package live

import (
	"math"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/world"
)

// recorder writes the history, in the order of time: it reads the clock and
// passes the event on in one critical section. It takes no other lock.
type recorder struct {
	mu     sync.Mutex
	sink   history.Sink
	origin env.Instant // the begin of the run
	last   history.Time
	phase  phase
	lapses *world.Lapses
	due    dueFunc
	dead   map[int]bool // clients that are heard no more
}

// dueFunc returns the instant of the machine's monotonic clock at which a client's
// clock comes to until, as it runs now.
type dueFunc func(client int, clock env.Clock, until env.Instant) env.Instant

type phase uint8

const (
	idle phase = iota
	running
	sealed
)

func newRecorder(sink history.Sink, due dueFunc) *recorder {
	r := &recorder{sink: sink, due: due, dead: map[int]bool{}}
	r.lapses = world.NewLapses(r.lapseTime, r.pass)
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
	r.phase, r.origin = running, env.System().Now(env.Monotonic)
	return true
}

// seal writes the end; nothing can follow.
func (r *recorder) seal(end *history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(*end)
	r.phase = sealed
}

// now is the time since the run began.
func (r *recorder) now() history.Time {
	return history.Time(env.System().Now(env.Monotonic).Sub(r.origin))
}

// ofClient writes what a client tells, unless it is dead.
func (r *recorder) ofClient(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.dead[e.Client] {
		r.write(e)
	}
}

// ofWorld writes what the world has done. A kill is the last that is heard of
// its client.
func (r *recorder) ofWorld(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(e)
	if e.Kind == history.Kill {
		r.dead[e.Client] = true
	}
}

// watch asks for a lapse. What a client that is dead now has asked for last
// stands.
func (r *recorder) watch(client int, clock env.Clock, resource, token string, until env.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hears(client) {
		r.lapses.Watch(r.now(), client, clock, resource, token, until)
	}
}

// unwatch withdraws what was asked for.
func (r *recorder) unwatch(client int, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hears(client) {
		r.lapses.Unwatch(r.now(), client, token)
	}
}

func (r *recorder) hears(client int) bool { return r.phase == running && !r.dead[client] }

// clocksChange lets a client's clocks be changed: what has come due by them as they were
// comes first.
func (r *recorder) clocksChange(client int, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.lapses.Flush(now)
	change()
	r.lapses.ClockChanged(now, client)
}

// lapseTime is when the client's clock comes to until.
func (r *recorder) lapseTime(client int, clock env.Clock, until env.Instant) history.Time {
	due := r.due(client, clock, until)
	if due == env.Never {
		return math.MaxInt64
	}
	return history.Time(due.Sub(r.origin))
}

// write stamps the event and passes it on, behind the lapses that have come
// due before it.
func (r *recorder) write(e history.Event) {
	if r.phase != running {
		return
	}
	e.Time = r.now()
	r.lapses.Flush(e.Time)
	r.pass(&e)
}

// pass passes an event on with the time that it bears, unless that lies before
// the last event's: a lapse can be asked for late.
func (r *recorder) pass(e *history.Event) {
	r.last = max(r.last, e.Time)
	e.Time = r.last
	r.sink.Record(e)
}
