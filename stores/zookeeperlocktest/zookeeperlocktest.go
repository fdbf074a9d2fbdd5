// Package zookeeperlocktest tests locks of [go-zookeeper] in the storms of locktest, on real
// members of ZooKeeper, which have to be installed:
//
//	func TestLockInStorm(t *testing.T) {
//		zookeeperlocktest.Run(t, func(env locktest.Env) (*zk.Conn, <-chan zk.Event, error) {
//			return zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(zookeeperlocktest.Silent))
//		})
//	}
//
// zk.Lock reports no loss, so a holder that is cut off works on while another has the lock. This
// fails the test. A program that takes the loss of the connection for the loss of the lock is
// tested by:
//
//	c := zookeeperlocktest.Config(locktest.Config{})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
//		return zookeeperlocktest.NewWatched(env, connect)
//	})
//
// The timeout of sessions is what the function passes to zk.Connect; it has to be env.TTL, which is
// locktest.Config.TTL.
//
// One session is used for all holds until a call has failed, and is closed then: a node that could
// not be deleted would keep everybody out as long as the session lives. Calls of the library take
// no context; one whose context has ended is left alone. Unlock reports by ErrNoNode that the lock
// was not held.
//
// [go-zookeeper]: https://pkg.go.dev/github.com/go-zookeeper/zk
package zookeeperlocktest

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/zookeepertest"
)

// Connect opens a session with the members, as [zk.Connect] returns it.
type Connect func(locktest.Env) (*zk.Conn, <-chan zk.Event, error)

// Run tests a lock on 3 members of ZooKeeper, as [locktest.Run] does. connect is called by each
// client of each run when it first locks, and when a call has failed since.
func Run(t *testing.T, connect Connect) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, connect) })
}

// Config returns the configuration with ZooKeeper as its store. Time is real, so a TTL and rounds
// that are 0 become 1 s and 5. A session is one caller's, so callers that are 0 become 1.
func Config(c locktest.Config) locktest.Config {
	c.Backend, c.Store = locktest.Process, zookeepertest.Store
	c.TTL, c.Rounds = cmp.Or(c.TTL, time.Second), cmp.Or(c.Rounds, 5)
	c.Callers = cmp.Or(c.Callers, 1)
	return c
}

// Silent is a logger that discards what the library logs of broken connections.
var Silent zk.Logger = silent{}

type silent struct{}

func (silent) Printf(string, ...any) {}

// New returns the lock of a client, for [locktest.Run]. It reports no loss.
func New(env locktest.Env, connect Connect) locktest.Locker {
	return newLocker(env, connect).unwatched()
}

// NewWatched returns the lock of a client whose holders take the event that the connection is lost
// for the loss of the lock.
func NewWatched(env locktest.Env, connect Connect) locktest.Locker { return newLocker(env, connect) }

// locker uses one session for all holds until something fails.
type locker struct {
	env     locktest.Env
	connect Connect
	current *session // nil: connect first
}

func newLocker(env locktest.Env, connect Connect) *locker {
	l := &locker{env: env, connect: connect}
	env.Cleanup(func() error {
		if l.current != nil {
			l.current.conn.Close()
		}
		return nil
	})
	return l
}

// errDisconnected is the error of a lock that was acquired while the connection was lost: whether
// it is of the same session is not known.
var errDisconnected = errors.New("the connection was lost meanwhile")

// Lock implements [locktest.Locker].
func (l *locker) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	hold, s, err := l.lock(ctx, resource)
	if err == nil && closed(hold.Lost) {
		err = l.drop(s, errDisconnected)
	}
	return hold, err
}

// unwatched returns the same lock without the notice of a loss.
func (l *locker) unwatched() locktest.Locker {
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		hold, _, err := l.lock(ctx, resource)
		hold.Lost = nil
		return hold, err
	})
}

// lock acquires the lock in the current session.
func (l *locker) lock(ctx context.Context, resource string) (locktest.Hold, *session, error) {
	if l.current == nil {
		made, err := openSession(l.env, l.connect)
		if err != nil {
			return locktest.Hold{}, nil, err
		}
		l.current = made
	}
	s := l.current
	lock := zk.NewLock(s.conn, "/"+resource, zk.WorldACL(zk.PermAll))
	lost := s.lost()
	if err := l.drop(s, within(ctx, lock.Lock)); err != nil {
		return locktest.Hold{}, nil, err
	}
	release := func(ctx context.Context) error { return notHeld(l.drop(s, within(ctx, lock.Unlock))) }
	return locktest.Hold{Lost: lost, Release: release}, s, nil
}

// drop gives a session up if there is an error, which it returns.
func (l *locker) drop(s *session, err error) error {
	if err != nil && l.current == s {
		l.current = nil
		go s.conn.Close() // which waits for a member
	}
	return err
}

// within calls a function of the library, which takes no context, and leaves it when ctx ends.
func within(ctx context.Context, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func notHeld(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return locktest.ErrNotHeld
	}
	return err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
