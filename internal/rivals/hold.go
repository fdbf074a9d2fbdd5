package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Hold is a granted lock. It may be used concurrently.
type Hold struct {
	*attempt
	ctx context.Context
	end context.CancelCauseFunc

	// Guarded by the mutex's mu.
	state holdState
	until env.Instant
}

type holdState uint8

const (
	held holdState = iota + 1
	warned
	gone
	released
)

// ended returns the error of an operation that needs a hold which has not ended.
func (s holdState) ended() error {
	switch s {
	case warned:
		return ErrExpiring
	case released:
		return ErrReleased
	}
	return ErrLost
}

func newHold(a *attempt) *Hold {
	ctx, end := context.WithCancelCause(context.Background())
	return &Hold{attempt: a, ctx: ctx, end: end, state: held, until: a.until}
}

// Resource returns the name of what is locked.
func (h *Hold) Resource() string { return h.resource }

// Token returns the value under which the lock is held.
func (h *Hold) Token() string { return h.token }

// Fence returns the fence that came with the grant; 0: none.
func (h *Hold) Fence() uint64 { return h.fence }

// Context returns a context that ends when the hold does, or a margin before the
// end of its validity.
func (h *Hold) Context() context.Context { return h.ctx }

// Until returns the end of validity on the clock that the lock reads;
// [env.Never]: there is none.
func (h *Hold) Until() env.Instant {
	h.mutex.mu.Lock()
	defer h.mutex.mu.Unlock()
	return h.until
}

// Check returns nil if the lock is held and more of its validity is left than
// the margin; else [ErrExpiring], [ErrLost] or [ErrReleased].
func (h *Hold) Check() error {
	now := h.mutex.now()
	h.mutex.mu.Lock()
	defer h.mutex.mu.Unlock()
	switch {
	case h.state != held:
		return h.state.ended()
	case h.until != env.Never && now >= h.until.Add(-h.mutex.config.Margin):
		return ErrExpiring
	}
	return nil
}

// Verify asks the store whether the entry of the hold is still there, and reads no clock. A
// serializable read may find one that is gone. The error is [ErrLost] if it is gone, and another
// one if the store does not reply. Only a lock in a store can be asked.
func (h *Hold) Verify(ctx context.Context, serializable bool) error {
	mine := h.latest()
	found, err := h.mutex.find(ctx, env.StoreRequest{Key: mine.Key, Serializable: serializable}, h.token)
	if err == nil && (found.Revision == 0 || !h.renewable && found.Revision != mine.Revision) {
		return ErrLost
	}
	return err
}

// Extend requests a TTL from now on, in whole milliseconds, at most the lock's own TTL,
// because the allowance covers no more. Another TTL is an [ErrConfig]. After a release the
// error is [ErrReleased].
func (h *Hold) Extend(ctx context.Context, ttl time.Duration) error {
	scheme, can := h.mutex.scheme.(extender)
	switch longest := h.mutex.config.TTL; {
	case !can:
		return errNoExtension
	case ttl < time.Millisecond || ttl%time.Millisecond != 0 || ttl > longest:
		return fmt.Errorf("%w: an extension to %v: want whole milliseconds, from 1 to the TTL, %v", ErrConfig, ttl, longest)
	case h.isReleased():
		return ErrReleased
	}
	h.reportExtend(ttl)
	until, err := scheme.extend(ctx, h, ttl)
	return h.reportExtended(ttl, until, err)
}

func (h *Hold) isReleased() bool {
	h.mutex.mu.Lock()
	defer h.mutex.mu.Unlock()
	return h.state == released
}

// reportExtend reports the start of an extension.
func (h *Hold) reportExtend(ttl time.Duration) {
	m := h.mutex
	m.Observer.Observe(env.Event{Step: env.StepExtend, Resource: h.resource, Token: h.token, TTL: ttl, Until: m.validUntil(ttl)})
}

// reportExtended applies and reports the result of an extension.
func (h *Hold) reportExtended(ttl time.Duration, until env.Instant, err error) error {
	event := env.Event{Step: env.StepExtended, Resource: h.resource, Token: h.token, TTL: ttl, Until: until}
	if err == nil {
		event.Validity, err = h.prolong(until)
	}
	if err != nil {
		event.Step, event.Until, event.Err = env.StepExtendFailed, 0, err
	}
	h.mutex.Observer.Observe(event)
	return err
}

// prolong moves the end of validity if the hold has not ended, and returns the validity
// left.
func (h *Hold) prolong(until env.Instant) (time.Duration, error) {
	now := h.mutex.now()
	h.mutex.mu.Lock()
	defer h.mutex.mu.Unlock()
	switch {
	case !h.active():
		return 0, h.state.ended()
	case until <= now:
		return 0, ErrValidity
	}
	h.state, h.until = held, until
	return until.Sub(now), nil
}

// active reports whether the hold can continue. The mutex's mu is held.
func (h *Hold) active() bool { return h.state == held || h.state == warned && h.mayRecover }

// Release releases the lock. It returns nil if the lock was still held, [ErrLost] if it
// was not, and another error if that is unknown. A second release returns [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m := h.mutex
	m.mu.Lock()
	was := h.state
	h.state = released
	m.mu.Unlock()
	if was == released {
		return ErrReleased
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: h.resource, Token: h.token}
	m.Observer.Observe(event)
	h.end(ErrReleased)
	event.Answer, event.Err = m.scheme.release(ctx, h)
	event.Step = env.StepReleased
	m.Observer.Observe(event)
	return event.Err
}

// watch warns the holder when the validity is about to end. It polls if the lock does not
// use the monotonic clock, or if the hold may recover.
func (h *Hold) watch() {
	m := h.mutex
	pause := max(m.config.TTL/16, time.Millisecond)
	for {
		left := h.Until().Add(-m.config.Margin).Sub(m.now())
		if left <= 0 {
			h.setState(warned, env.StepExpiring, ErrExpiring)
			if !h.mayRecover {
				return
			}
			left = pause
		}
		if m.config.Clock != env.Monotonic {
			left = min(left, pause)
		}
		if m.Runtime.Sleep(h.ctx, m.mono().Add(left)) != nil {
			return
		}
	}
}

// lose reports to the holder that the lock is lost, unless the hold has ended already.
func (h *Hold) lose(cause error) { h.setState(gone, env.StepLost, cause) }

func (h *Hold) setState(state holdState, step env.Step, cause error) {
	h.mutex.mu.Lock()
	news := h.active() && h.state != state
	if news {
		h.state = state
	}
	over := !h.active()
	h.mutex.mu.Unlock()
	if !news {
		return
	}
	if over {
		h.end(cause)
	}
	h.mutex.Observer.Observe(env.Event{Step: step, Resource: h.resource, Token: h.token, Err: cause})
}
