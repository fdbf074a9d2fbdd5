package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Hold is a granted lock. It is safe for concurrent use.
type Hold struct {
	attempt *attempt
	fence   uint64
	ctx     context.Context
	end     context.CancelCauseFunc

	// Guarded by the mutex's mu.
	before, after *Hold // in the mutex's list of watched holds
	state         holdState
	until         env.Instant
	extending     bool // an extension is under way: the warning waits for its outcome
	asking        bool // a call of Extend has not returned yet
}

type holdState uint8

const (
	held     holdState = iota + 1
	warned             // the holder was warned that the validity is about to end
	gone               // the holder was informed that the lock is lost
	released           // by the holder
)

// ended returns the error of an operation on a hold that has ended.
func (s holdState) ended() error {
	switch s {
	case warned:
		return ErrExpiring
	case released:
		return ErrReleased
	}
	return ErrLost
}

// newHold returns a hold whose context derives from base.
func newHold(base context.Context, a *attempt, until env.Instant, fence uint64) *Hold {
	ctx, end := context.WithCancelCause(base)
	return &Hold{attempt: a, fence: fence, ctx: ctx, end: end, state: held, until: until}
}

// Resource returns the locked resource.
func (h *Hold) Resource() string { return h.attempt.resource }

// Token returns the value of the lock's keys. It is a secret: whoever knows it and reaches the
// nodes can release the lock.
func (h *Hold) Token() string { return h.attempt.token }

// Fence returns the number that was drawn with the grant, higher than those of all earlier holds;
// see [Config.Fence], without which it is 0. To be safe from a holder that goes on past its
// validity, the resource must receive the fence with every read and write, and reject every
// fence that is lower than the highest it has seen.
func (h *Hold) Fence() uint64 { return h.fence }

// Left returns the remaining validity on the lock's clock. Zero or less means that it has ended.
func (h *Hold) Left() time.Duration { return h.Until().Sub(h.attempt.mutex.now()) }

// Until returns the end of validity on the lock's clock, [Config.Clock], whose origin is
// arbitrary; see [Hold.Left].
func (h *Hold) Until() env.Instant {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	return h.until
}

// Context returns a context that ends when the lock is lost or released, and at the latest
// [Config.Margin] before the end of validity; an extension that is under way then may use up the
// margin. context.Cause returns [ErrLost], [ErrReleased], [ErrExpiring] or [ErrClosed]. The
// context ends only while the client runs: a paused client finds it ended when it wakes up, if
// it checks. With [env.Boottime] a suspension is noticed within a sixteenth of the TTL after the
// machine wakes up; [Hold.Check] notices it at once.
func (h *Hold) Context() context.Context { return h.ctx }

// Check reads the clock and returns nil if the lock is held and more validity than the margin is
// left; otherwise [ErrLost], [ErrExpiring] or [ErrReleased]. A check before each effect shortens
// the time in which a client that was paused goes on without the lock. Only a fence ends it,
// because a client can be paused between the check and the effect.
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

// startWatch starts the watch of a new hold.
func (h *Hold) startWatch() {
	m := h.attempt.mutex
	m.mu.Lock()
	if h.after = m.watched; h.after != nil {
		h.after.before = h
	}
	m.watched = h
	m.mu.Unlock()
	m.background("watch", h.watchToEnd)
}

func (h *Hold) watchToEnd() {
	h.watch()
	m := h.attempt.mutex
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.after != nil {
		h.after.before = h.before
	}
	if h.before != nil {
		h.before.after = h.after
	} else {
		m.watched = h.after
	}
}

// watchedHolds returns the holds whose watch has not ended.
func (m *Mutex) watchedHolds() (all []*Hold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for h := m.watched; h != nil; h = h.after {
		all = append(all, h)
	}
	return all
}

// watch warns the holder before the validity ends. With a watchdog it extends the hold until then.
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

// nextWarning returns when to warn the holder, or that the warning is due now. While an extension
// is under way the warning waits for its outcome, but not past the end of validity. If the
// extension fails, [Hold.finishExtend] warns.
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

// warn informs the holder that the validity is about to end, unless the hold has ended.
func (h *Hold) warn() { h.tell(warned, env.StepExpiring, ErrExpiring) }

// lose informs the holder that the lock is lost, unless the hold has ended, and returns the cause.
// It deletes nothing: only the holder's release does.
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
