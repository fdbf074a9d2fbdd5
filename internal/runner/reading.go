package runner

import (
	"sync"

	"github.com/lockstorm/lockstorm/env"
)

// reading is what the clock that the lock reads showed when the acquisition or extension
// under way came as far as its validity check: behind the last reply, and before the lock
// has read the clock itself. A judge holds the validity that the lock tells against it.
//
// What a lock does in the background takes steps too, under other tokens.
type reading struct {
	mu    sync.Mutex
	token string // of the operation under way
	at    env.Instant
	taken bool
}

// begun takes note that an operation begins.
func (r *reading) begun(e *env.Event) {
	if e.Step != env.StepAcquire && e.Step != env.StepExtend {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token, r.taken = e.Token, false
}

// passed reads the clock when the client goes on from a step after which the lock does.
func (r *reading) passed(e *env.Event, now func() env.Instant) {
	if e.Step != env.StepReply && e.Step != env.StepQuorum && e.Step != env.StepBeforeCheck {
		return
	}
	at := now() // where time is real, a client can be paused in it
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token == e.Token {
		r.at, r.taken = at, true
	}
}

// of returns the reading for the return of an operation that has succeeded with an end of
// validity; 0: there is none.
func (r *reading) of(e *env.Event) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	ends := (e.Step == env.StepGranted || e.Step == env.StepExtended) && e.Until != env.Never
	if !ends || !r.taken || r.token != e.Token {
		return 0
	}
	return int64(r.at)
}
