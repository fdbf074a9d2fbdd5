package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// Check reads the lock's clock: a client that was paused, or whose machine was
// suspended, finds out at once, before any task of its own has run.
func TestCheck(t *testing.T) {
	suspended := nemesis.Fault{Action: &nemesis.Suspend{Client: 1}, Start: nemesis.At(100 * ms), End: nemesis.After(2 * time.Second)}
	playWith(t, config(), 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.wantError("at first", h.Check(), nil)
		b.want("left", h.Left(), 986*ms)
		b.sleep(1, 897*ms)
		b.wantError("before the margin", h.Check(), nil)
		b.sleep(1, ms)
		b.wantError("in the margin", h.Check(), redlock.ErrExpiring)
		b.sleep(1, 88*ms)
		b.wantError("after the end", h.Check(), redlock.ErrLost)
		b.wantError("release", h.Release(context.Background()), nil)
		b.wantError("after the release", h.Check(), redlock.ErrReleased)
	})
	for clock, want := range map[string]error{"boottime": redlock.ErrLost, "monotonic": nil} {
		c := config()
		if clock == "boottime" {
			c = reading(env.Boottime)
		}
		playWith(t, c, 5, nemesis.Plan{suspended}, func(b *bench, m *redlock.Mutex) {
			h := lock(b, m)
			b.sleep(1, 98*ms+1) // into the sleep, and out of it
			b.wantError(clock, h.Check(), want)
			b.want(clock+": the context has ended", h.Context().Err() != nil, false)
		})
	}
}
