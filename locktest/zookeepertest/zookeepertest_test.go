//go:build linux

package zookeepertest_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/zookeepertest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, zookeepertest.Store, open) }

// openCareless makes a lock that does not look at its session any more once it is granted.
func openCareless(env locktest.Env) locktest.Locker {
	conn, _, err := connect(env)
	env.Must(err)
	env.Cleanup(func() error { conn.Close(); return nil })
	return locktest.LockerFunc(func(_ context.Context, name string) (locktest.Hold, error) {
		lock := zk.NewLock(conn, "/"+name, zk.WorldACL(zk.PermAll))
		release := func(context.Context) error { return lock.Unlock() }
		return locktest.Hold{Release: release}, lock.Lock()
	})
}

func TestRealStoreShowsALockThatIgnoresItsSession(t *testing.T) {
	externaltest.Wrong(t, zookeepertest.Store, openCareless)
}
