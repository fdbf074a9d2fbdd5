package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// now reads the clock that validity is counted on, [Config.Clock]. Waits for
// replies and delays are on the monotonic clock, whatever that clock is.
func (m *Mutex) now() env.Instant { return m.runtime.Now(m.config.Clock) }

// sleepUntil returns nil when the lock's clock should have come to until, or
// the error of ctx as soon as ctx ends. One can sleep on the monotonic clock
// only, so the caller has to look again: a clock that was stepped back, or ran
// slow, meanwhile has not come so far. One that went on in suspension, or was
// stepped forward, has come there earlier, which is noticed at the next look.
func (m *Mutex) sleepUntil(ctx context.Context, until env.Instant) error {
	if m.config.Clock == env.Monotonic {
		return m.runtime.Sleep(ctx, until)
	}
	left := until.Sub(m.now())
	if left <= 0 {
		return ctx.Err()
	}
	left = min(left, m.config.TTL/clockChecks)
	if err := m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(left)); err != nil || left >= clockPoll {
		return err
	}
	if until.Sub(m.now()) <= 0 {
		return nil
	}
	// It should have come there, and has not: it stands still, or is slow.
	return m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(clockPoll-left))
}

// clockChecks is how often in a TTL the lock looks at another clock than the monotonic
// one, so that it finds out soon what that clock did while it slept.
const clockChecks = 16

// clockPoll is the shortest sleep on behalf of another clock than the monotonic
// one: that clock may stand still, just before its time.
const clockPoll = time.Millisecond
