package redlock

import (
	"context"

	"github.com/lockstorm/lockstorm/env"
)

// Hold is a granted lock. It may be used concurrently.
type Hold struct {
	attempt *attempt
	ctx     context.Context
	end     context.CancelCauseFunc

	// Guarded by the mutex's mu.
	state     holdState
	until     env.Instant
	extending bool
}

type holdState uint8

const (
	held     holdState = iota + 1
	gone               // lost, or so near its end that the holder has been told
	released           // by the holder
)

func newHold(ctx context.Context, a *attempt, until env.Instant) *Hold {
	// The values of the caller's context go on, its end does not: it limited
	// the acquisition, not the work.
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	return &Hold{attempt: a, ctx: ctx, end: end, state: held, until: until}
}

// Resource returns the name of what is locked.
func (h *Hold) Resource() string { return h.attempt.resource }

// Token returns the random value under which the lock is held.
func (h *Hold) Token() string { return h.attempt.token }

// Until returns the end of validity, on the client's monotonic clock.
func (h *Hold) Until() env.Instant {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	return h.until
}

// Context returns a context that ends when the lock is lost, when it is
// released, and at the latest [Config.Margin] before the end of validity.
// context.Cause tells which: [ErrLost], [ErrReleased], [ErrExpiring],
// [ErrClosed]. It ends only while the client runs: a paused client finds it
// ended when it wakes, if it looks.
func (h *Hold) Context() context.Context { return h.ctx }

// watch ends the hold's context before the validity ends.
func (h *Hold) watch() {
	m := h.attempt.mutex
	for {
		until := h.Until()
		if m.runtime.Sleep(h.ctx, until.Add(-m.config.Margin)) != nil {
			return
		}
		m.mu.Lock()
		expiring := h.state == held && h.until == until
		if expiring {
			h.state = gone
		}
		m.mu.Unlock()
		if expiring {
			h.tell(env.StepExpiring, ErrExpiring)
			return
		}
	}
}

// lose tells the holder that the lock is lost, unless it has ended already. It
// deletes nothing: only the holder's release does. It returns the cause.
func (h *Hold) lose(cause error) error {
	m := h.attempt.mutex
	m.mu.Lock()
	was := h.state
	if was == held {
		h.state = gone
	}
	m.mu.Unlock()
	if was == held {
		h.tell(env.StepLost, cause)
	}
	return cause
}

func (h *Hold) tell(step env.Step, cause error) {
	h.end(cause)
	h.attempt.mutex.observer.Observe(env.Event{Step: step, Resource: h.attempt.resource, Token: h.attempt.token, Err: cause})
}
