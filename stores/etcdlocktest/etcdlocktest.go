// Package etcdlocktest tests mutexes of etcd's [concurrency] package, and its read-write lock ([NewRW]), in the
// storms of locktest, on real members of etcd, which have to be installed:
//
//	func TestMutexInStorm(t *testing.T) {
//		etcdlocktest.Run(t, func(env locktest.Env) *clientv3.Client {
//			return etcdtest.Client(env, clientv3.Config{DialKeepAliveTime: time.Second})
//		})
//	}
//
// The test is of your configuration: use the clientv3.Config that production has. Options of
// locktest take one line more:
//
//	c := etcdlocktest.Config(locktest.Config{TTL: 3 * time.Second})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
//		return etcdlocktest.New(env, etcdtest.Client(env, clientv3.Config{}))
//	})
//
// Each hold has a session, whose TTL is locktest.Config.TTL, in whole seconds.
//
// A grant has no end of validity: it lasts until Unlock, and Session.Done is the notice of the
// loss. The fence is the revision of Mutex.Header. Unlock returns nil also if the lock was lost.
//
// [concurrency]: https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency
package etcdlocktest

import (
	"cmp"
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

// Run tests a mutex on 3 members of etcd, as [locktest.Run] does. open is called for each client of
// each run.
func Run(t *testing.T, open func(locktest.Env) *clientv3.Client) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env)) })
}

// Config returns the configuration with etcd as its store. Time is real, so a TTL and rounds that
// are 0 become 1 s and 5.
func Config(c locktest.Config) locktest.Config {
	c.Backend, c.Store = locktest.Process, etcdtest.Store
	c.TTL, c.Rounds = cmp.Or(c.TTL, time.Second), cmp.Or(c.Rounds, 5)
	return c
}

// New returns the lock of a client, for [locktest.Run]. Each call of Lock opens a session.
func New(env locktest.Env, client *clientv3.Client) locktest.Locker {
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(env.TTL/time.Second)), concurrency.WithContext(ctx))
		if err != nil {
			return locktest.Hold{}, err
		}
		mutex := concurrency.NewMutex(session, "/"+resource)
		if err := mutex.Lock(ctx); err != nil {
			_ = session.Close() // what counts is that Lock has failed
			return locktest.Hold{}, err
		}
		release := func(ctx context.Context) error {
			defer func() { _ = session.Close() }() // the key is deleted by then, or is with the lease
			return mutex.Unlock(ctx)
		}
		return locktest.Hold{Lost: session.Done(), Fence: uint64(mutex.Header().Revision), Release: release}, nil
	})
}

// NewRW is New for the RWMutex of etcd's recipes. [locktest.Config].Capacity has to be higher than the number of
// readers, such as 1000. The library takes no context: when that of a call ends, its session is closed, and the
// library waits on alone.
func NewRW(env locktest.Env, client *clientv3.Client) locktest.Locker {
	return locktest.LockerFunc(func(ctx context.Context, resource string) (h locktest.Hold, err error) {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(env.TTL/time.Second)), concurrency.WithContext(ctx))
		if err != nil {
			return h, err
		}
		mutex := recipe.NewRWMutex(session, "/"+resource)
		lock, unlock := mutex.Lock, mutex.Unlock
		if locktest.Weight(ctx) > 0 {
			lock, unlock, h.Weight = mutex.RLock, mutex.RUnlock, 1
		}
		locked := make(chan error, 1)
		go func() { locked <- lock() }()
		select {
		case err = <-locked:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			_, _ = client.Revoke(client.Ctx(), session.Lease()) // Close would use the context that has ended
			return h, err
		}
		h.Lost = session.Done()
		h.Release = func(context.Context) error {
			defer func() { _ = session.Close() }()
			return unlock()
		}
		return h, nil
	})
}
