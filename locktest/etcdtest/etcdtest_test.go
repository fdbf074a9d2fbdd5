//go:build linux

package etcdtest_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/etcdtest"
)

func TestRealStoreKeepsACorrectLock(t *testing.T) { externaltest.Correct(t, etcdtest.Store, open) }

// openCareless makes a lock that does not look at its session any more once it is granted.
func openCareless(env locktest.Env) locktest.Locker {
	client := etcdtest.Client(env, clientv3.Config{})
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(int(env.TTL/time.Second)), concurrency.WithContext(ctx))
		if err != nil {
			return locktest.Hold{}, err
		}
		mutex := concurrency.NewMutex(session, name)
		return locktest.Hold{Release: mutex.Unlock}, mutex.Lock(ctx)
	})
}

func TestRealStoreShowsALockThatIgnoresItsSession(t *testing.T) {
	externaltest.Wrong(t, etcdtest.Store, openCareless)
}
