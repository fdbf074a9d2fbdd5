package zookeepertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/zookeepertest"
)

// silent swallows what the client tells of connections that break.
type silent struct{}

func (silent) Printf(string, ...any) {}

// connect opens a session.
func connect(env locktest.Env) (*zk.Conn, <-chan zk.Event, error) {
	return zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(silent{}))
}

// Mutex is your lock: that of the library, with a session for each hold. The library says too
// late that the session is over, so the hold ends by the client's clock.
type Mutex struct {
	Connect func() (*zk.Conn, <-chan zk.Event, error)
	TTL     time.Duration // of sessions
}

// A member counts the time of a session from up to half a tick before it answers.
const halfTick = 100 * time.Millisecond

// Lease is the lock while it is held.
type Lease struct {
	conn  *zk.Conn
	lock  *zk.Lock
	Until time.Time // when it may be over
}

// Lock waits until the lock is held.
func (m *Mutex) Lock(ctx context.Context, name string) (*Lease, error) {
	conn, events, err := m.Connect()
	if err != nil {
		return nil, err
	}
	l := &Lease{conn: conn, lock: zk.NewLock(conn, "/"+name, zk.WorldACL(zk.PermAll))}
	locked := make(chan error, 1)
	go func() { locked <- l.acquire(name, m.TTL, events) }()
	select {
	case err = <-locked:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// acquire waits for the lock, and asks then whether the session is still the same: the library
// opens another one in place of one that is over.
func (l *Lease) acquire(name string, ttl time.Duration, events <-chan zk.Event) error {
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	session := l.conn.SessionID()
	if err := l.lock.Lock(); err != nil {
		return err
	}
	sent := time.Now()
	_, err := l.conn.Set("/"+name, nil, -1) // a write: reads are answered without the leader
	l.Until = sent.Add(ttl - halfTick)
	if err == nil && (l.conn.SessionID() != session || !time.Now().Before(l.Until)) {
		err = errors.New("the session is over")
	}
	return err
}

// Unlock releases the lock and closes its session.
func (l *Lease) Unlock() error {
	defer l.conn.Close()
	return l.lock.Unlock()
}

// open makes the lock of one client.
func open(env locktest.Env) locktest.Locker {
	mutex := &Mutex{Connect: func() (*zk.Conn, <-chan zk.Event, error) { return connect(env) }, TTL: env.TTL}
	return locktest.LockerFunc(func(ctx context.Context, name string) (locktest.Hold, error) {
		lease, err := mutex.Lock(ctx, name)
		if err != nil {
			return locktest.Hold{}, err
		}
		release := func(context.Context) error {
			err := lease.Unlock()
			if errors.Is(err, zk.ErrNoNode) {
				return locktest.ErrNotHeld
			}
			return err
		}
		return locktest.Hold{Release: release, Until: lease.Until}, nil
	})
}

// A complete test of a lock on ZooKeeper. In a _test.go file it is called TestMutexInStorm, and t
// is its argument.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: zookeepertest.Store}, open)
	}
	_ = TestMutexInStorm
}
