package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Hold is a granted lock. It may be used concurrently.
type Hold struct {
	attempt *attempt
	fence   uint64
	ctx     context.Context
	end     context.CancelCauseFunc

	// Guarded by the mutex's mu.
	state     holdState
	until     env.Instant
	extending bool // the outcome is open, and with it whether a warning is due
	asking    bool // a call of Extend has not told its outcome yet
}

type holdState uint8

const (
	held     holdState = iota + 1
	warned             // its validity is about to end, and the holder has been told
	gone               // it is held no more, and the holder has been told
	released           // by the holder
)

// ended returns the error of an operation that needs a hold which has not
// ended.
func (s holdState) ended() error {
	switch s {
	case warned:
		return ErrExpiring
	case released:
		return ErrReleased
	}
	return ErrLost
}

// newHold returns a hold whose context is derived from base. For most callers
// that has the values of their own context and not its end, which limited the
// acquisition and not the work.
func newHold(base context.Context, a *attempt, until env.Instant, fence uint64) *Hold {
	ctx, end := context.WithCancelCause(base)
	return &Hold{attempt: a, fence: fence, ctx: ctx, end: end, state: held, until: until}
}

// Resource returns the name of what is locked.
func (h *Hold) Resource() string { return h.attempt.resource }

// Token returns the value under which the lock is held, a secret: whoever knows it
// and reaches the nodes can release the lock.
func (h *Hold) Token() string { return h.attempt.token }

// Fence returns the number that was drawn with the grant, above those of all
// holds before; see [Config.Fence], without which it is 0. A resource that has to
// survive a holder who goes on past its validity takes it with every read and
// every write, and refuses whoever comes with a lower one than it has seen.
func (h *Hold) Fence() uint64 { return h.fence }

// Left returns how much of the validity is left, by the clock that the lock reads;
// none, or less, means that it has ended.
func (h *Hold) Left() time.Duration { return h.Until().Sub(h.attempt.mutex.now()) }

// Until returns the end of validity, on the clock that the lock reads,
// [Config.Clock], whose origin is arbitrary; see [Hold.Left].
func (h *Hold) Until() env.Instant {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	return h.until
}

// Context returns a context that ends when the lock is lost, when it is
// released, and at the latest [Config.Margin] before the end of validity; an
// extension that is under way then may use the margin up. context.Cause tells
// which: [ErrLost], [ErrReleased], [ErrExpiring], [ErrClosed]. It ends only
// while the client runs: a paused client finds it ended when it wakes, if it
// looks. Where the lock does not read the monotonic clock it can end late: that
// the other clock went on in suspension, or was stepped forward, is noticed
// within a sixteenth of the TTL of running; [Hold.Check] notices at once.
func (h *Hold) Context() context.Context { return h.ctx }

// Check reads the clock and returns nil if the lock is held and more of its
// validity is left than the margin; else [ErrLost], [ErrExpiring] or
// [ErrReleased]. To check before each effect shortens the time in which a client
// that was paused or suspended goes on believing; only a fence ends it, for a
// client can be paused between the check and the effect.
func (h *Hold) Check() error {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case h.state == released || h.state == gone:
		return h.state.ended()
	case now >= h.until:
		return errEnded
	case h.state == warned:
		return ErrExpiring
	case now >= h.until.Add(-m.config.Margin):
		return ErrExpiring
	}
	return nil
}

// watch warns the holder before the validity ends, and extends the hold until
// then if there is a watchdog.
func (h *Hold) watch() {
	m, dog := h.attempt.mutex, newRenewer(h)
	for warning := h.Until().Add(-m.config.Margin); ; {
		if m.sleepUntil(h.ctx, min(warning, dog.next)) != nil {
			return
		}
		dog.extend(h.ctx)
		var due bool
		if warning, due = h.nextWarning(); due {
			h.warn()
			return
		}
	}
}

// nextWarning returns when the holder has to be warned, or that it has to be
// now. While an extension is under way its outcome is waited for, to the end of
// the validity and no longer; if it fails, [Hold.finishExtend] warns.
func (h *Hold) nextWarning() (at env.Instant, due bool) {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	at = h.until.Add(-m.config.Margin)
	if h.extending {
		at = h.until
	}
	return at, now >= at
}

// warn tells the holder that the validity is about to end, unless the hold has
// ended already.
func (h *Hold) warn() { h.tell(warned, env.StepExpiring, ErrExpiring) }

// lose tells the holder that the lock is lost, unless the hold has ended
// already. It deletes nothing: only the holder's release does. It returns the
// cause.
func (h *Hold) lose(cause error) error {
	h.tell(gone, env.StepLost, cause)
	return cause
}

func (h *Hold) tell(state holdState, step env.Step, cause error) {
	m := h.attempt.mutex
	m.mu.Lock()
	was := h.state
	if was == held {
		h.state = state
	}
	m.mu.Unlock()
	if was == held {
		h.end(cause)
		m.observer.Observe(env.Event{Step: step, Resource: h.attempt.resource, Token: h.attempt.token, Err: cause})
	}
}
