package etcdtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

// Mutex is your lock: etcd's, with a session for each hold. A session alone says too late that it
// is over, so the hold ends by the client's clock.
type Mutex struct {
	Client *clientv3.Client
	TTL    time.Duration
}

// Lease is the lock while it is held.
type Lease struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
	Until   time.Time // when it may be over
}

// Lock waits until the lock is held.
func (m *Mutex) Lock(ctx context.Context, name string) (*Lease, error) {
	session, err := concurrency.NewSession(m.Client, concurrency.WithTTL(int(m.TTL/time.Second)), concurrency.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	l := &Lease{session: session, mutex: concurrency.NewMutex(session, name)}
	if err = l.mutex.Lock(ctx); err == nil {
		// The wait may have been longer than the lease. It lasts at least a TTL from here on.
		sent := time.Now()
		_, err = m.Client.KeepAliveOnce(ctx, session.Lease())
		l.Until = sent.Add(m.TTL)
	}
	if err == nil && !time.Now().Before(l.Until) {
		err = errors.New("the answer came too late")
	}
	if err != nil {
		_ = session.Close() // otherwise others wait for the end of the lease
		return nil, err
	}
	return l, nil
}

// Unlock releases the lock with its session.
func (l *Lease) Unlock(context.Context) error { return l.session.Close() }

// open makes the lock of one client.
func open(env locktest.Env) locktest.Locker {
	mutex := &Mutex{Client: etcdtest.Client(env, clientv3.Config{}), TTL: env.TTL}
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		lease, err := mutex.Lock(ctx, name)
		if err != nil {
			return locktest.Hold{}, err
		}
		release := func(ctx context.Context) error {
			err := lease.Unlock(ctx)
			if errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return locktest.ErrNotHeld
			}
			return err
		}
		return locktest.Hold{Release: release, Until: lease.Until}, nil
	})
}

// A complete test of a lock on etcd. In a _test.go file it is called TestMutexInStorm, and t is
// its argument.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: etcdtest.Store}, open)
	}
	_ = TestMutexInStorm
}
