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
// of validity, unless a quorum has become impossible because nodes hold the
// lock no more: then it is lost. ttl is in whole milliseconds and more than its
// [Allowance]; it may be longer than [Config.TTL], and is then the longest TTL of
// which the package's promise speaks. Errors are [ErrConfig], [ErrLost],
// [ErrExpiring] (the holder has been warned, which is final), [ErrReleased],
// [ErrNoQuorum], [ErrExtending] or that of ctx.
func (h *Hold) Extend(ctx context.Context, ttl time.Duration) error {
	m := h.attempt.mutex
	if err := m.config.validateTTL(ttl); err != nil {
		return err
	}
	defer m.end(m.begin())
	old, err := h.beginExtend()
	if err != nil {
		return err
	}
	defer h.endExtend()
	x := extension{hold: h, ttl: ttl, old: old}
	x.until = extendedUntil(old, m.now(), ttl, m.config.allowance(ttl))
	event := env.Event{Step: env.StepExtend, Resource: h.attempt.resource, Token: h.attempt.token, TTL: ttl, Until: x.until}
	m.observer.Observe(event)
	event.Validity, event.Err = x.run(ctx)
	if event.Err != nil {
		m.observe(event, env.StepExtendFailed)
		return event.Err
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
		return 0, h.state.ended()
	case h.asking:
		return 0, ErrExtending
	}
	h.extending, h.asking = true, true
	return h.until, nil
}

// endExtend lets the next extension begin, now that observers have heard of this one:
// who pauses a client while it tells must not see another begin meanwhile.
func (h *Hold) endExtend() {
	h.attempt.mutex.mu.Lock()
	defer h.attempt.mutex.mu.Unlock()
	h.asking = false
}

// extension is one attempt to extend a hold.
type extension struct {
	hold  *Hold
	ttl   time.Duration
	old   env.Instant // the end of validity before
	until env.Instant // and the one that is asked for
}

// run asks the nodes and returns the validity that is left.
func (x *extension) run(ctx context.Context) (time.Duration, error) {
	h, m := x.hold, x.hold.attempt.mutex
	// Replies count only within the validity that there is: what comes later
	// may speak of keys that have expired and were acquired by another.
	wait := min(m.patience, x.old.Sub(m.now()))
	if wait <= 0 {
		return 0, h.finishExtend(x, errEnded)
	}
	h.attempt.ask(x.ttl)
	r := m.send(m.all, env.Command{Op: env.OpExtend, Key: h.attempt.resource, Token: h.attempt.token, TTL: x.ttl}, min(m.config.NodeTimeout, wait))
	if m.config.Quarantine > 0 {
		r.weigh = h.attempt.weighExtension
	}
	votes, err := m.gather(ctx, r, r.sent.Add(wait))
	m.drainRest("drain extension", r)
	now := m.now()
	if err := h.finishExtend(x, x.outcome(votes, err, now)); err != nil {
		return 0, err
	}
	return x.until.Sub(now), nil
}

var errEnded = fmt.Errorf("%w: its validity has ended", ErrLost)

// outcome is what the votes amount to; nil means extended.
func (x *extension) outcome(v tally, err error, now env.Instant) error {
	switch {
	case now >= x.old:
		return errEnded
	case v.decide() == won:
		return nil
	case v.denied():
		return v.quorumError(ErrLost)
	case err != nil && !errors.Is(err, env.ErrTimeout):
		return err
	}
	return v.quorumError(ErrNoQuorum)
}

// finishExtend ends an extension: with the new end of validity if it was
// granted and the hold has not ended meanwhile, with the news of the loss, or
// with the warning that it has held back. It returns the error of the
// extension.
func (h *Hold) finishExtend(x *extension, outcome error) error {
	m := h.attempt.mutex
	now := m.now()
	m.mu.Lock()
	h.extending = false
	state := h.state
	if state == held && outcome == nil {
		h.until = x.until
	}
	late := now >= h.until.Add(-m.config.Margin)
	m.mu.Unlock()
	switch {
	case state != held:
		return state.ended()
	case errors.Is(outcome, ErrLost):
		return h.lose(outcome)
	case late:
		h.warn()
	}
	return outcome
}
