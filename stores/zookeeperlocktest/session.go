package zookeeperlocktest

import (
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
)

// session is a connection whose events are followed.
type session struct {
	conn *zk.Conn

	mu   sync.Mutex
	down chan struct{} // closed when the connection is lost
}

// openSession connects. The library closes the channel of events when it has closed the connection,
// which ends the goroutine.
func openSession(env locktest.Env, connect Connect) (*session, error) {
	conn, events, err := connect(env)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, down: make(chan struct{})}
	go func() {
		for e := range events {
			s.observe(e)
		}
	}()
	return s, nil
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
