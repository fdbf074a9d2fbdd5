package locks

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
)

// silent swallows what go-zookeeper tells of connections that break.
type silent struct{}

func (silent) Printf(string, ...any) {}

// openZooKeeper is the lock of go-zookeeper. It reports no loss.
func openZooKeeper(env locktest.Env) locktest.Locker { return ephemeral(env, false) }

// openZooKeeperWatched is the same with a holder that counts the loss of the connection, of which
// the library reports an event, as the loss of the lock.
func openZooKeeperWatched(env locktest.Env) locktest.Locker { return ephemeral(env, true) }

// ephemeral uses one session for all holds until something fails. Then it closes the session: a
// node that could not be deleted, or that was created without an answer, would keep everybody out
// as long as the session lives.
func ephemeral(env locktest.Env, watched bool) locktest.Locker {
	var current *session
	env.Cleanup(func() error {
		if current != nil {
			current.conn.Close()
		}
		return nil
	})
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		if current == nil {
			made, err := openSession(env)
			if err != nil {
				return locktest.Hold{}, err
			}
			current = made
		}
		s := current
		after := func(err error) error {
			if err != nil && current == s {
				current = nil
				go s.conn.Close() // which waits for a member
			}
			return err
		}
		lock := zk.NewLock(s.conn, "/"+resource, zk.WorldACL(zk.PermAll))
		lost := s.lost()
		if err := after(s.within(ctx, lock.Lock)); err != nil {
			return locktest.Hold{}, err
		}
		hold := locktest.Hold{Release: func(ctx context.Context) error {
			return notHeld(after(s.within(ctx, lock.Unlock)), zk.ErrNoNode)
		}}
		if watched {
			if hold.Lost = lost; closed(lost) {
				return locktest.Hold{}, after(errDisconnected)
			}
		}
		return hold, nil
	})
}

// errDisconnected is the error of a lock that was acquired while the connection was lost: whether
// it is of the same session is not known.
var errDisconnected = errors.New("the connection was lost meanwhile")

// session is a connection whose events are followed.
type session struct {
	conn *zk.Conn

	mu   sync.Mutex
	down chan struct{} // closed when the connection is lost
}

func openSession(env locktest.Env) (*session, error) {
	s := &session{down: make(chan struct{})}
	conn, _, err := zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(silent{}), zk.WithEventCallback(s.observe))
	s.conn = conn
	return s, err
}

// within calls a function of the library, which takes no context, and leaves it when ctx ends.
func (s *session) within(ctx context.Context, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lost returns a channel that is closed when the connection is lost from now on.
func (s *session) lost() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

func (s *session) observe(e zk.Event) {
	if e.Type != zk.EventSession || e.State != zk.StateDisconnected && e.State != zk.StateExpired {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.down)
	s.down = make(chan struct{})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
