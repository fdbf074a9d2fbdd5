package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func TestWithLock(t *testing.T) {
	oh := errors.New("oh")
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		ctx := context.Background()
		b.wantError("nothing to say", m.WithLock(ctx, "r", func(ctx context.Context) error { return ctx.Err() }), nil)
		b.wantError("the error of the work", m.WithLock(ctx, "r", func(context.Context) error { return oh }), oh)

		late := m.WithLock(ctx, "r", func(context.Context) error { b.sleep(1, 950*ms); return oh })
		b.wantError("work past the warning", late, redlock.ErrExpiring)
		b.wantError("and its own error", late, oh)

		tooLate := m.WithLock(ctx, "r", func(context.Context) error { b.sleep(1, 2*time.Second); return nil })
		b.wantError("work past the end", tooLate, redlock.ErrExpiring)
		b.sleep(1, time.Second)
	})
	b.want("keys left", b.keys(), 0)
}

// The context of the work ends with the caller's, and the lock is released all
// the same.
func TestWithLockIsCancelled(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		ctx, cancel := context.WithCancel(context.Background())
		r := b.Runtime(1)
		r.Go("canceller", func() { b.sleep(1, 50*ms); cancel() })
		err := m.WithLock(ctx, "r", func(ctx context.Context) error {
			return r.Sleep(ctx, env.Never)
		})
		b.wantError("work", err, context.Canceled)
		b.want("time", b.at() < 60*ms, true)
		b.sleep(1, 100*ms)
		b.want("keys left", b.keys(), 0)
		b.wantError("not even begun", m.WithLock(ctx, "r", func(context.Context) error {
			t.Error("called")
			return nil
		}), context.Canceled)
	})
	b.want("keys left", b.keys(), 0)
}

func TestWithLockReleasesInAPanic(t *testing.T) {
	b := play(t, nil, func(b *bench, m *redlock.Mutex) {
		func() {
			defer func() { _ = recover() }()
			_ = m.WithLock(context.Background(), "r", func(context.Context) error { panic("oh") })
		}()
		b.sleep(1, 100*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// Two who want the same resources in different orders get them in turn.
func TestLockAllInOneOrder(t *testing.T) {
	swap := func(client int, resources ...string) func(*bench, *redlock.Mutex) {
		return func(b *bench, m *redlock.Mutex) {
			for range 5 {
				holds, err := m.LockAll(context.Background(), resources...)
				if err != nil {
					t.Error(err)
					return
				}
				b.sleep(client, 10*ms)
				b.want("holds", len(holds.Each()), 2)
				b.wantError("context", holds.Context().Err(), nil)
				b.wantError("release", holds.Release(context.Background()), nil)
			}
			b.sleep(client, 100*ms)
		}
	}
	b := play(t, nil, swap(1, "a", "b", "a"), swap(2, "b", "a"))
	b.want("keys left", b.keys(), 0)
}

func TestLockAllOrNothing(t *testing.T) {
	c := config()
	c.Tries = 1
	b := playWith(t, c, 5, nil, func(b *bench, m *redlock.Mutex) {
		ctx := context.Background()
		taken, err := m.Lock(ctx, "b")
		b.wantError("lock", err, nil)
		_, err = m.LockAll(ctx, "c", "b", "a")
		b.wantError("one is taken", err, redlock.ErrTaken)
		b.want("its name is told", err.Error()[:4], `"b":`)
		b.wantError("release", taken.Release(ctx), nil)
		b.sleep(1, 50*ms)
		b.want("keys left", b.keys(), 0)

		_, err = m.LockAll(ctx)
		b.wantError("none is named", err, redlock.ErrConfig)

		holds, err := m.LockAll(ctx, "c", "b", "a")
		b.wantError("all", err, nil)
		first, until := holds.Each()[0], holds.Until()
		b.want("order", first.Resource(), "a")
		b.want("the earliest end", until, first.Until())
		b.sleep(1, 100*ms)
		b.wantError("extend", holds.Extend(ctx, time.Second), nil)
		b.want("later", holds.Until() > until, true)
		b.wantError("one is released", first.Release(ctx), nil)
		b.wantError("that ends all", context.Cause(holds.Context()), redlock.ErrReleased)
		b.wantError("the rest", holds.Release(ctx), redlock.ErrReleased)
		b.sleep(1, 100*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// A lock that is lost while the others are being acquired is worth nothing.
func TestLockAllThatLosesOne(t *testing.T) {
	c := config()
	c.TTL, c.Margin = 100*ms, 10*ms
	c.NodeTimeout = 60 * ms
	slow := nemesis.Fault{
		Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 20 * ms, Max: 20 * ms}}}, Start: nemesis.At(0),
	}
	b := playWith(t, c, 5, nemesis.Plan{slow}, func(b *bench, m *redlock.Mutex) {
		_, err := m.LockAll(context.Background(), "a", "b", "c")
		b.wantError("the first has ended", err, redlock.ErrExpiring)
		b.sleep(1, time.Second)
	})
	b.want("keys left", b.keys(), 0)
}
