package redlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// watched is a lock whose watchdog extends every 300 ms.
func watched(limit int) redlock.Config {
	c := config()
	c.Watchdog = redlock.Watchdog{Every: 300 * ms, Limit: limit}
	return c
}

func TestWatchdogKeepsTheLock(t *testing.T) {
	b := playWith(t, watched(0), 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 3*time.Second)
		b.wantError("context after three TTLs", h.Context().Err(), nil)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, time.Second)
	})
	// 2 ms after the grant at 2 ms, and after every extension.
	b.want("extensions", b.steps(1, env.StepExtended), "304ms 606ms 908ms 1.21s 1.512s 1.814s 2.116s 2.418s 2.72s")
	b.want("keys left", b.keys(), 0)
}

func TestWatchdogStopsAtItsLimit(t *testing.T) {
	b := playWith(t, watched(2), 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		<-done(b, h)
		b.wantError("cause", context.Cause(h.Context()), redlock.ErrExpiring)
	})
	b.want("extensions", b.steps(1, env.StepExtended), "304ms 606ms")
	// The second was asked for at 604 ms: 988 ms of validity less 88 ms.
	b.want("expiring", b.steps(1, env.StepExpiring), "1.504s")
}

// done returns a channel that is closed when the hold's context has ended.
func done(b *bench, h *redlock.Hold) <-chan struct{} {
	for h.Context().Err() == nil {
		b.sleep(1, 10*ms)
	}
	return h.Context().Done()
}

// Nodes that do not answer for a while cost no hold: the watchdog tries again.
func TestWatchdogTriesAgain(t *testing.T) {
	away := partition([]int{1, 2, 3}, nemesis.At(250*ms), nemesis.After(200*ms))
	b := playWith(t, watched(0), 5, nemesis.Plan{away}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 2*time.Second)
		b.wantError("context", h.Context().Err(), nil)
		_ = h.Release(context.Background())
	})
	if failed := b.steps(1, env.StepExtendFailed); !strings.HasPrefix(failed, "352ms ") {
		t.Errorf("extensions failed at %s", failed)
	}
}

// The watchdog reports a loss when it finds it, and the end in time if no node can be asked.
func TestWatchdogTellsInTime(t *testing.T) {
	var plan nemesis.Plan
	for n := 1; n <= 3; n++ {
		plan = append(plan, crash(n, nemesis.At(100*ms), nemesis.After(10*ms)))
	}
	b := playWith(t, watched(0), 5, plan, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		<-done(b, h)
		b.wantError("cause of a loss", context.Cause(h.Context()), redlock.ErrLost)
	})
	b.want("lost", b.steps(1, env.StepLost), "306ms") // the scripts had gone too

	cut := partition(nil, nemesis.At(100*ms), nil)
	b = playWith(t, watched(0), 5, nemesis.Plan{cut}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		<-done(b, h)
		b.wantError("cause of the end", context.Cause(h.Context()), redlock.ErrExpiring)
		if now := b.at(); now > 988*ms {
			t.Errorf("told at %v, when the validity had ended", now)
		}
	})
	b.want("lost", b.steps(1, env.StepLost), "")
}

// A release ends the watchdog, whatever it is doing.
func TestReleaseEndsTheWatchdog(t *testing.T) {
	for _, at := range []time.Duration{301 * ms, 302 * ms, 303 * ms, 304 * ms, 305 * ms} {
		b := playWith(t, watched(0), 5, nil, func(b *bench, m *redlock.Mutex) {
			h := lock(b, m)
			b.sleep(1, at-b.at())
			b.wantError("release", h.Release(context.Background()), nil)
			b.sleep(1, 2*time.Second)
		})
		b.want("keys left", b.keys(), 0)
		if extended := b.steps(1, env.StepExtended); strings.Contains(extended, " ") {
			t.Errorf("released at %v, extended at %s", at, extended)
		}
	}
}

func TestImpossibleWatchdogs(t *testing.T) {
	for _, w := range []redlock.Watchdog{{Every: -1}, {Every: 100 * ms, Limit: -1}, {Limit: 3}, {Every: 900 * ms}} {
		c := config()
		c.Watchdog = w
		if err := c.Validate(); !errors.Is(err, redlock.ErrConfig) || !strings.Contains(err.Error(), "watchdog") {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// An extension of the holder's own, under way when the watchdog's is due, does not
// end the watch.
func TestWatchdogSurvivesAnotherExtension(t *testing.T) {
	playWith(t, watched(0), 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 301*ms-b.at()) // the watchdog's first comes at 302 ms
		b.wantError("extend", h.Extend(context.Background(), time.Second), nil)
		b.sleep(1, 3*time.Second)
		b.wantError("context", h.Context().Err(), nil)
	})
}
