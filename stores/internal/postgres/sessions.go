package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// session is a connection that serves the requests of one session, one at a time. Its entries are
// advisory locks.
type session struct {
	conn
	kind env.SessionKind
	turn chan struct{} // filled by the request that uses the connection
	held map[string]bool
}

// inSession carries out a request of a session. After an error the session is over.
func (c *client) inSession(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	if r.Op == env.StoreOpen {
		return c.openSession(ctx, r)
	}
	c.mu.Lock()
	s := c.sessions[r.Session]
	c.mu.Unlock()
	if s == nil {
		return env.StoreReply{}, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return env.StoreReply{}, context.Cause(ctx)
	}
	reply, err := s.do(ctx, r)
	if err != nil || r.Op == env.StoreClose {
		c.endSession(r.Session)
	}
	if err != nil {
		c.leave(s.at)
	}
	return reply, err
}

// openSession connects to the primary, which will end the connection of a client that does not
// answer for the TTL.
func (c *client) openSession(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	c.mu.Lock()
	at := c.current
	c.mu.Unlock()
	made, err := connect(ctx, c.addrs[at], c.dial, pgconn.ValidateConnectTargetSessionAttrsPrimary)
	if err != nil {
		c.leave(at)
		return env.StoreReply{}, fmt.Errorf("%w: %w", env.ErrNoLeader, err)
	}
	if _, err := made.PgConn().Exec(ctx, timeouts(r)).ReadAll(); err != nil {
		hangUp(made)
		c.leave(at)
		return env.StoreReply{}, err
	}
	s := &session{conn: conn{made, at}, kind: r.Kind, turn: make(chan struct{}, 1), held: map[string]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		hangUp(made)
		return env.StoreReply{}, context.Canceled
	}
	c.opened++
	c.sessions[c.opened] = s
	return env.StoreReply{Done: true, Session: c.opened}, nil
}

// timeouts sets when the server ends the connection. Its keepalive times are whole seconds, half of
// the TTL until the first probe and half for the reply.
func timeouts(r env.StoreRequest) string {
	half := max(1, (r.TTL+2*time.Second-1)/(2*time.Second))
	sql := fmt.Sprintf("set tcp_keepalives_idle = %d; set tcp_keepalives_interval = %d; set tcp_keepalives_count = 1; set tcp_user_timeout = %d", half, half, r.TTL.Milliseconds())
	if r.Kind == env.SessionTransaction {
		sql += fmt.Sprintf("; set idle_in_transaction_session_timeout = %d", r.TTL.Milliseconds())
	}
	return sql
}

// endSession closes the connection of a session, if it is there. With it go its locks.
func (c *client) endSession(id uint64) {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if s != nil {
		hangUp(s.Conn)
	}
}

func (s *session) do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	switch r.Op {
	case env.StoreKeep:
		_, err := s.Exec(ctx, "select 1")
		return env.StoreReply{Done: err == nil}, err
	case env.StoreCreate:
		return s.lock(ctx, r)
	case env.StoreDelete:
		return s.unlock(ctx, r)
	case env.StoreClose:
		return s.unlockAll(ctx)
	}
	return env.StoreReply{}, fmt.Errorf("postgresql: %v in a session: %w", r.Op, live.ErrStoreOp)
}

// lock acquires an advisory lock. PostgreSQL would give one to the session that has it again.
func (s *session) lock(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	taken := env.StoreReply{Entries: []env.Entry{{Key: r.Key}}}
	if s.held[r.Key] {
		return taken, nil
	}
	try, transaction := "select pg_try_advisory_lock(hashtextextended($1, 0))", s.kind == env.SessionTransaction
	if transaction {
		try = "select pg_try_advisory_xact_lock(hashtextextended($1, 0))"
		if _, err := s.Exec(ctx, "begin"); err != nil {
			return env.StoreReply{}, err
		}
	}
	var got bool
	err := s.QueryRow(ctx, try, r.Key).Scan(&got)
	if err == nil && !got && transaction {
		_, err = s.Exec(ctx, "rollback")
	}
	if err != nil || !got {
		return taken, err
	}
	s.held[r.Key] = true
	return env.StoreReply{Done: true, Entries: []env.Entry{{Key: r.Key, Value: r.Value, Session: r.Session}}}, nil
}

// unlock releases an advisory lock, or ends the transaction.
func (s *session) unlock(ctx context.Context, r env.StoreRequest) (reply env.StoreReply, err error) {
	if !s.held[r.Key] {
		return reply, nil
	}
	delete(s.held, r.Key)
	if s.kind == env.SessionTransaction {
		_, err = s.Exec(ctx, "commit")
		return env.StoreReply{Done: err == nil}, err
	}
	err = s.QueryRow(ctx, "select pg_advisory_unlock(hashtextextended($1, 0))", r.Key).Scan(&reply.Done)
	return reply, err
}

// unlockAll releases all locks of a session that is about to be closed. The server would do so only
// some time after the connection has been closed.
func (s *session) unlockAll(ctx context.Context) (env.StoreReply, error) {
	end := "select pg_advisory_unlock_all()"
	if s.kind == env.SessionTransaction {
		if len(s.held) == 0 {
			return env.StoreReply{Done: true}, nil
		}
		end = "rollback"
	}
	_, err := s.Exec(ctx, end)
	return env.StoreReply{Done: err == nil}, err
}
