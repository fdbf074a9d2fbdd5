package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// Extend asks the nodes to keep the lock for another ttl from now. It never
// shortens the validity, creates no key and, when it fails, leaves the old end
// of validity, unless a quorum said that the lock is gone: then the hold is
// lost. Errors are [ErrConfig], [ErrLost], [ErrReleased], [ErrNoQuorum],
// [ErrExtending] or that of ctx.
func (h *Hold) Extend(ctx context.Context, ttl time.Duration) error {
	m := h.attempt.mutex
	if err := m.config.validateTTL(ttl); err != nil {
		return err
	}
	old, err := h.beginExtend()
	if err != nil {
		return err
	}
	event := env.Event{Step: env.StepExtend, Resource: h.attempt.resource, Token: h.attempt.token, TTL: ttl}
	t0 := m.runtime.Mono()
	if t0 >= old {
		h.finishExtend(false, old)
		return h.lose(fmt.Errorf("%w: its validity has ended", ErrLost))
	}
	event.Until = extendedUntil(old, t0, ttl, m.config.allowance(ttl))
	m.observer.Observe(event)
	event.Validity, err = h.extend(ctx, ttl, t0, old, event.Until)
	if err != nil {
		event.Err = err
		m.observe(event, env.StepExtendFailed)
		return err
	}
	m.observe(event, env.StepExtended)
	return nil
}

// beginExtend makes sure that extensions come one at a time: a reply must not
// be counted for another extension than its own.
func (h *Hold) beginExtend() (until env.Instant, err error) {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	switch {
	case h.state != held:
		return 0, ended(h.state)
	case h.extending:
		return 0, ErrExtending
	}
	h.extending = true
	return h.until, nil
}

func ended(s holdState) error {
	if s == released {
		return ErrReleased
	}
	return ErrLost
}

func (h *Hold) extend(ctx context.Context, ttl time.Duration, t0, old, until env.Instant) (time.Duration, error) {
	m := h.attempt.mutex
	// Replies count only within the validity that there is: what comes later
	// may speak of keys that have expired and were acquired by another.
	wait := min(m.config.NodeTimeout, old.Sub(t0))
	r := m.send(m.all, env.Command{Op: env.OpExtend, Key: h.attempt.resource, Token: h.attempt.token, TTL: ttl}, wait)
	votes, err := m.gather(ctx, r, t0.Add(wait))
	if r.silent != 0 {
		m.background("drain extension", nil, func() { r.drain(nil) })
	}
	now := m.runtime.Mono()
	inTime := err == nil && votes.decide() == won && now < old
	if state := h.finishExtend(inTime, until); state != held {
		return 0, ended(state)
	}
	switch {
	case inTime:
		return until.Sub(now), nil
	case votes.denied():
		return 0, h.lose(fmt.Errorf("%w: %d of %d nodes do not hold it", ErrLost, votes.declined, votes.nodes))
	case now >= old:
		return 0, h.lose(fmt.Errorf("%w: its validity ended while it was being extended", ErrLost))
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return 0, err
	}
	return 0, fmt.Errorf("%w: %d of %d extended the lock", ErrNoQuorum, votes.yes, votes.nodes)
}

// finishExtend takes the new end over, unless the hold has ended meanwhile.
func (h *Hold) finishExtend(extended bool, until env.Instant) holdState {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	h.extending = false
	if extended && h.state == held {
		h.until = until
	}
	return h.state
}

// Release gives the lock up on every node. It returns nil when a quorum of
// nodes deleted its keys, [ErrLost] when a quorum held them no more, and
// [ErrNoQuorum] or the error of ctx when nobody could tell in time; the nodes
// are asked to delete the keys in any case. Releasing twice is [ErrReleased].
func (h *Hold) Release(ctx context.Context) error {
	m, a := h.attempt.mutex, h.attempt
	m.mu.Lock()
	twice := h.state == released
	h.state, a.abandoned = released, true
	m.mu.Unlock()
	if twice {
		return ErrReleased
	}
	event := env.Event{Step: env.StepBeforeRelease, Resource: a.resource, Token: a.token}
	m.observer.Observe(event)
	h.end(ErrReleased)

	r := m.send(m.all, m.deleteCommand(a.resource, a.token), m.config.NodeTimeout)
	votes, err := m.gather(ctx, r, m.runtime.Mono().Add(m.config.NodeTimeout))
	if r.silent != 0 || r.lost != 0 {
		m.background("finish release", nil, func() { m.finishErase(r) })
	}
	event.Answer, event.Err = releaseOutcome(votes, err)
	m.observe(event, env.StepReleased)
	return event.Err
}

func releaseOutcome(v tally, err error) (env.Answer, error) {
	switch {
	case v.decide() == won:
		return env.Yes, nil
	case v.denied():
		return env.No, fmt.Errorf("%w: %d of %d nodes held it no more", ErrLost, v.declined, v.nodes)
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return env.Lost, err
	}
	return env.Lost, fmt.Errorf("%w to the release", ErrNoQuorum)
}
