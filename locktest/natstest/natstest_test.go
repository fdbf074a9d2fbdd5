//go:build linux

package natstest_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/natstest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, natstest.Store, open) }

// openCareless makes a lock whose holder does not look at the end of its hold.
func openCareless(env locktest.Env) locktest.Locker {
	mutex := open(env)
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		hold, err := mutex.Lock(ctx, name)
		return locktest.Hold{Release: hold.Release}, err
	})
}

func TestRealStoreShowsALockThatIgnoresItsEnd(t *testing.T) {
	externaltest.Wrong(t, natstest.Store, openCareless)
}
