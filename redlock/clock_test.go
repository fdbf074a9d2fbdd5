package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func reading(clock env.Clock) redlock.Config {
	c := config()
	c.Clock = clock
	return c
}

// onClock returns the variant of a lock that counts its validity on a clock.
func onClock(clock env.Clock) variant {
	return func(c *redlock.Config, runtime *env.Runtime, _ *env.Nodes) {
		c.Clock = clock
		if clock == env.Wall {
			c.Clock, *runtime = env.Boottime, rivals.OnWallClock(*runtime)
		}
	}
}

// wallJump steps client 1's wall clock when it has held the lock for a while.
func wallJump(by time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: by}, Start: nemesis.At(100 * ms)}
}

func lasting(a nemesis.Action, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Plan {
	return nemesis.Plan{{Action: a, Start: start, End: end}}
}

// The holder is warned 88 ms before the end of validity on the lock's clock,
// which is at 900 ms if nothing happens.
func TestWarningFollowsTheLocksClock(t *testing.T) {
	freeze := &nemesis.ClockFreeze{Machine: nemesis.Machine{Client: 1}}
	sleeps := lasting(&nemesis.Suspend{Client: 1}, nemesis.At(100*ms), nemesis.After(300*ms))
	for name, c := range map[string]struct {
		clock env.Clock
		plan  nemesis.Plan
		want  string
	}{
		"wall":                              {env.Wall, nil, "900ms"},
		"boottime":                          {env.Boottime, nil, "900ms"},
		"wall, stepped back":                {env.Wall, nemesis.Plan{wallJump(-300 * ms)}, "1.2s"},
		"wall, stepped forward":             {env.Wall, nemesis.Plan{wallJump(300 * ms)}, "600ms"},
		"monotonic, wall stepped back":      {env.Monotonic, nemesis.Plan{wallJump(-300 * ms)}, "900ms"},
		"wall, frozen":                      {env.Wall, lasting(freeze, nemesis.At(100*ms), nemesis.After(300*ms)), "1.2s"},
		"wall, frozen for ever":             {env.Wall, lasting(freeze, nemesis.At(100*ms), nil), ""},
		"wall, frozen just before its time": {env.Wall, lasting(freeze, nemesis.At(900*ms-1), nil), ""},
		"boottime, suspended":               {env.Boottime, sleeps, "900ms"},
		"boottime, suspended past its end":  {env.Boottime, lasting(&nemesis.Suspend{Client: 1}, nemesis.At(100*ms), nemesis.After(2*time.Second)), "2.127s"},
		"boottime, wall stepped back":       {env.Boottime, nemesis.Plan{wallJump(-300 * ms)}, "900ms"},
	} {
		b := playVariant(t, onClock(c.clock), config(), 5, c.plan, func(b *bench, m *redlock.Mutex) {
			h := lock(b, m)
			b.sleep(1, 5*time.Second)
			if c.want != "" && !errors.Is(context.Cause(h.Context()), redlock.ErrExpiring) {
				t.Errorf("%s: %v", name, context.Cause(h.Context()))
			}
		})
		b.want(name, b.steps(1, env.StepExpiring), c.want)
	}
}

// A machine that slept for longer than the validity lasts is found out by a
// lock on the clock that counts suspension, and by no other.
func TestOnlyBoottimeCountsSuspension(t *testing.T) {
	acquiring := lasting(&nemesis.Suspend{Client: 1}, nemesis.When(1, env.StepBeforeCheck, 0), nemesis.After(time.Second))
	for clock, want := range map[env.Clock]error{env.Boottime: redlock.ErrValidity, env.Monotonic: nil} {
		c := reading(clock)
		c.Tries = 1
		playWith(t, c, 5, acquiring, func(b *bench, m *redlock.Mutex) {
			_, err := m.Lock(context.Background(), "r")
			b.wantError(clock.String()+", while acquiring", err, want)
		})
	}
}

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
