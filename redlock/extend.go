package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Extend extends the lock to ttl from now. It never shortens the validity and never creates a
// key. If it fails, the old end of validity stays, unless so many nodes no longer hold the key
// that no quorum is possible: then the lock is lost. ttl is in whole milliseconds and more than
// its [Allowance]. It may be longer than [Config.TTL]; then it counts as the longest TTL in the
// promise of the package. The error is [ErrConfig], [ErrLost], [ErrExpiring] (the holder has been
// warned, which is final), [ErrReleased], [ErrNoQuorum], [ErrExtending] or the error of ctx.
func (h *Hold) Extend(ctx context.Context, ttl time.Duration) error {
	m := h.attempt.mutex
	if err := m.config.validateTTL(ttl); err != nil {
		return err
	}
	m.jobs.begin()
	defer m.jobs.end()
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

// beginExtend allows one extension at a time, so that no reply counts for another extension than
// its own.
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

// endExtend allows the next extension, after the observer has seen this one. An observer that
// pauses the client must not see another extension begin meanwhile.
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
	until env.Instant // the end of validity if it is granted
}

// run asks the nodes and returns the remaining validity.
func (x *extension) run(ctx context.Context) (time.Duration, error) {
	h, m := x.hold, x.hold.attempt.mutex
	// Replies count only within the present validity. A later reply may be about a key
	// that expired and was acquired by somebody else.
	wait := min(m.config.NodeTimeout, x.old.Sub(m.now()))
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

// outcome returns nil if the votes extend the hold.
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

// finishExtend ends an extension. It sets the new end of validity if the extension was granted
// and the hold has not ended meanwhile, reports a loss, or gives the warning that the extension
// had delayed. It returns the error of the extension.
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
