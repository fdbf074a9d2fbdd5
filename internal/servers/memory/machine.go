package memory

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// machine is the one that such a world is on: its clocks are those of package time, which
// are virtual in a bubble, and count from when it was opened.
type machine struct {
	env.Runtime
	began time.Time
}

// Machine returns the runtime of the machine that a world in memory is on, as a lock reads it
// that is no client of that world's: its clocks are those of package time, virtual in a bubble
// of synctest, where those of [env.System] are not. They count from now on.
func Machine() env.Runtime { return newMachine() }

func newMachine() machine { return machine{env.System(), time.Now()} }

// Now implements [env.Runtime]. Nothing suspends the machine, and nobody sets its wall
// clock.
func (m machine) Now(c env.Clock) env.Instant {
	since := time.Since(m.began)
	if c == env.Wall {
		return env.Instant(m.began.UnixNano()).Add(since)
	}
	return env.Instant(since)
}

// Sleep implements [env.Runtime].
func (m machine) Sleep(ctx context.Context, until env.Instant) error {
	timer := time.NewTimer(until.Sub(m.Now(env.Monotonic)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
