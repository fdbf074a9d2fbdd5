package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

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
