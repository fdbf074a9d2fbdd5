//go:build linux

package etcdlocktest_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdlocktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

func open(env locktest.Env) locktest.Locker {
	return etcdlocktest.New(env, etcdtest.Client(env, clientv3.Config{}))
}

// Law: the mutex keeps its promises while a leader is down, with fences that grow. Whether it does
// where a holder is cut off is a matter of half a second, see docs/evidence/scoreboard-stores.md.
func TestRealStoreKeepsTheMutex(t *testing.T) {
	c := externaltest.LeaderDown(t, etcdtest.Store)
	c.Promises = []checker.Property{checker.Lease, checker.Fence, checker.DeadlockFreedom, checker.Contract}
	locktest.Run(t, c, open)
}

// Law: who does not look at the end of the session breaks V1. So it is by Lost that a holder is told.
func TestRealStoreShowsAHolderThatIsNotTold(t *testing.T) {
	externaltest.Wrong(t, etcdtest.Store, externaltest.Untold(open))
}

// Law: the read-write lock keeps its promises while a leader is down, and lets readers share it.
func TestRealStoreKeepsTheReadWriteLock(t *testing.T) {
	c := externaltest.LeaderDown(t, etcdtest.Store)
	c.Capacity, c.Clients = 1000, 4
	c.Promises = []checker.Property{checker.Lease, checker.DeadlockFreedom, checker.Contract}
	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
		return etcdlocktest.NewRW(env, etcdtest.Client(env, clientv3.Config{}))
	})
}
