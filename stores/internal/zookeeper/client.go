package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Store is ZooKeeper as its clients see it.
type Store struct{}

// Name returns the product's name.
func (Store) Name() string { return "zookeeper" }

// Servers says how the product's servers are run.
func (k Store) Servers() *live.StoreServers {
	return &live.StoreServers{
		Product: k.Name(), Port: 2181, Oldest: "3.6", Version: version, Watched: true, Clients: []live.Store{k},
		Handlers: Handlers, Start: Open, Installed: installed, CheckTTL: checkTTL,
	}
}

// Connect implements [live.Store].
func (Store) Connect(addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error)) (live.StoreClient, error) {
	return &client{addrs: addrs, dial: dial, sessions: map[uint64]*conn{}}, nil
}

// client has a connection for each session that it has opened, and one for all requests
// without a session.
type client struct {
	addrs []string
	dial  func(ctx context.Context, addr string) (net.Conn, error)

	current atomic.Int64 // the member that new connections try first

	mu       sync.Mutex
	closed   bool
	plain    *conn // nil: not needed yet
	sessions map[uint64]*conn
}

// plainTimeout is the session timeout of the connection for requests without a session. A
// third of it is the interval of the library's pings, and after two thirds without an answer
// the library gives the member up.
const plainTimeout = 3 * time.Second

// forRequests returns the connection for requests without a session.
func (c *client) forRequests() (*conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain == nil || c.plain.ended() {
		var err error
		if c.plain, err = c.connect(plainTimeout, false); err != nil {
			return nil, err
		}
	}
	return c.plain, nil
}

// open opens a session.
func (c *client) open(ctx context.Context, ttl time.Duration) (env.StoreReply, error) {
	c.mu.Lock()
	s, err := c.connect(ttl, true)
	c.mu.Unlock()
	if err != nil {
		return env.StoreReply{}, err
	}
	if _, err := s.await(ctx); err != nil {
		s.finish(errAbandoned)
		return env.StoreReply{}, err
	}
	id := uint64(s.zk.SessionID())
	if id == 0 { // it has expired meanwhile
		return env.StoreReply{}, errOver
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		s.finish(errAbandoned)
		return env.StoreReply{}, errAbandoned
	}
	c.sessions[id] = s
	s.ttl = max(ttl, minSession)
	s.heartbeat()
	return env.StoreReply{Done: true, Session: id}, nil
}

// session returns the connection of a session, or nil if this client has not opened it.
func (c *client) session(id uint64) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// Close implements [live.StoreClient]. Sessions are not closed but left to expire, like those
// of a client that dies.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.plain != nil {
		c.plain.finish(errAbandoned)
	}
	for _, s := range c.sessions {
		s.finish(errAbandoned)
	}
	return nil
}

// Do implements [live.StoreClient].
func (c *client) Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	do := operation(r)
	switch {
	case do == nil:
		return env.StoreReply{}, fmt.Errorf("zookeeper: %v of %+v: %w", r.Op, r, live.ErrStoreOp)
	case r.Op == env.StoreOpen:
		return c.open(ctx, r.TTL)
	case r.Op != env.StoreKeep && r.Op != env.StoreClose && (r.Op != env.StoreCreate || r.Session == 0):
		plain, err := c.forRequests()
		if err != nil {
			return env.StoreReply{}, err
		}
		return plain.run(ctx, r, do)
	}
	s := c.session(r.Session)
	if s == nil {
		return env.StoreReply{}, nil
	}
	var reply env.StoreReply
	var err error
	switch r.Op {
	case env.StoreClose:
		reply, err = s.closeSession(ctx)
	case env.StoreKeep:
		s.heartbeat()
		fallthrough
	default:
		reply, err = s.run(ctx, r, do)
	}
	if errors.Is(err, errOver) {
		c.mu.Lock()
		delete(c.sessions, r.Session)
		c.mu.Unlock()
		return env.StoreReply{}, nil
	}
	return reply, err
}

// run carries out a request that the library knows nothing of contexts for. It returns when
// ctx ends, while the library may still wait for the member. A member that has not answered
// in time is left, unless it had nothing to answer yet.
func (c *conn) run(ctx context.Context, r env.StoreRequest, do operationFunc) (env.StoreReply, error) {
	over, err := c.await(ctx)
	if err != nil {
		return env.StoreReply{}, err
	}
	type outcome struct {
		reply env.StoreReply
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := do(ctx, c.zk, r)
		done <- outcome{reply, err}
	}()
	select {
	case o := <-done:
		return o.reply, c.explain(o.err)
	case <-ctx.Done():
		if r.Op != env.StoreAwait && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = over.Close()
		}
		return env.StoreReply{}, context.Cause(ctx)
	}
}

// explain translates an error of the library.
func (c *conn) explain(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoServer): // the request was not sent
		return fmt.Errorf("%w: %w", env.ErrNoLeader, err)
	case errors.Is(err, zk.ErrSessionExpired) && c.lasting:
		c.finish(errOver)
		return errOver
	}
	return err
}
