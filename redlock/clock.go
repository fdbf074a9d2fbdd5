package redlock

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// sleepUntil returns nil when the lock's clock should have reached until, or the error of ctx when
// ctx ends. Sleep uses the monotonic clock, so the caller has to check the lock's clock again: a
// slow clock may not have reached until. If the machine was suspended, the clock has reached it
// earlier, which the next check notices.
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
	// The clock should have reached until and has not: it is slow.
	return m.runtime.Sleep(ctx, m.runtime.Now(env.Monotonic).Add(clockPoll-left))
}

// clockChecks is how often in a TTL a lock on [env.Boottime] checks that clock.
const clockChecks = 16

// clockPoll is the shortest sleep between two checks: a clock can stand still just before its
// time.
const clockPoll = time.Millisecond
