//go:build linux

package process

import (
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// recorder writes the history, in the order of time: it reads the clock and
// passes the event on in one critical section. It takes no other lock.
type recorder struct {
	mu     sync.Mutex
	sink   history.Sink
	origin env.Instant // the begin of the run
	last   history.Time
	phase  phase
	lapses lapses
	dead   map[int]bool // clients that say nothing any more
}

type phase uint8

const (
	idle phase = iota
	running
	sealed
)

func newRecorder(sink history.Sink) *recorder {
	return &recorder{sink: sink, lapses: lapses{}, dead: map[int]bool{}}
}

// begin makes this instant the time 0. It returns false if it has been called
// before.
func (r *recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != idle {
		return false
	}
	r.phase, r.origin = running, env.System().Mono()
	return true
}

// seal writes the end; nothing can follow.
func (r *recorder) seal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(&history.Event{Kind: history.End})
	r.phase = sealed
}

// now is the time since the run began.
func (r *recorder) now() history.Time {
	return history.Time(env.System().Mono().Sub(r.origin))
}

// said writes what a client says, unless it is dead.
func (r *recorder) said(e *history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.dead[e.Client] {
		r.write(e)
	}
}

// happened writes what the world has done.
func (r *recorder) happened(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(&e)
}

// killed writes the last event of a client, of which a fault is the cause.
func (r *recorder) killed(client, fault int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(&history.Event{Kind: history.Kill, Client: client, Fault: fault})
	r.dead[client] = true
}

// write stamps the event and passes it on, behind the lapses that have come
// due before it.
func (r *recorder) write(e *history.Event) {
	if r.phase != running {
		return
	}
	now := r.now()
	r.flush(now)
	r.pass(now, e)
}

func (r *recorder) pass(at history.Time, e *history.Event) {
	r.last = max(r.last, at)
	e.Time = r.last
	r.sink.Record(e)
}
