package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Store is PostgreSQL as its clients see it.
type Store struct{}

// Name returns the product's name.
func (Store) Name() string { return "postgresql" }

// Servers says how the product's servers are run.
func (k Store) Servers() *live.StoreServers {
	return &live.StoreServers{
		Product: k.Name(), Port: 5432, Oldest: "13", Version: version, Watched: true, Connected: true, Clients: []live.Store{k},
		Handlers: Handlers, Start: Open, Installed: installed,
	}
}

type dialer = func(ctx context.Context, addr string) (net.Conn, error)

// Connect implements [live.Store].
func (Store) Connect(addrs []string, dial dialer) (live.StoreClient, error) {
	return &client{addrs: addrs, dial: dial, sessions: map[uint64]*session{}}, nil
}

// client has a connection for each request under way, all to the same server. After a
// failure it uses the next one, but not after a request that its caller has canceled.
type client struct {
	addrs []string
	dial  dialer

	mu       sync.Mutex
	current  int         // whose address it uses
	idle     []*pgx.Conn // to the current server
	sessions map[uint64]*session
	opened   uint64 // sessions, so far
	closed   bool
}

// conn is a connection to the primary, in the hands of one request.
type conn struct {
	*pgx.Conn
	at int // the address
}

// Do implements [live.StoreClient].
func (c *client) Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	if r.Kind != env.SessionLease {
		return c.inSession(ctx, r)
	}
	do := operation(r)
	if do == nil {
		return env.StoreReply{}, fmt.Errorf("postgresql: %v of %+v: %w", r.Op, r, live.ErrStoreOp)
	}
	for {
		reply, again, err := c.try(ctx, r, do)
		if !again {
			return reply, err
		}
		select {
		case <-ctx.Done():
			return env.StoreReply{}, context.Cause(ctx)
		case <-time.After(awaitInterval):
		}
	}
}

// try carries out a request once. again: an await has to look again.
func (c *client) try(ctx context.Context, r env.StoreRequest, do statement) (reply env.StoreReply, again bool, err error) {
	conn, err := c.take(ctx)
	if err != nil {
		return reply, false, fmt.Errorf("%w: %w", env.ErrNoLeader, err)
	}
	reply, err = do(ctx, conn.Conn, r)
	if err != nil && !live.Canceled(ctx) {
		c.leave(conn.at)
	}
	c.give(conn, err != nil)
	if err != nil && noEffect(err) {
		err = fmt.Errorf("%w: %w", env.ErrNoLeader, err)
	}
	return reply, err == nil && r.Op == env.StoreAwait && !reply.Done, err
}

// noEffect reports whether a statement that failed has not been carried out: it was not sent,
// or the server is a standby.
func noEffect(err error) bool {
	const readOnly = "25006"
	var rejected *pgconn.PgError
	return pgconn.SafeToRetry(err) || errors.As(err, &rejected) && rejected.Code == readOnly
}

// take returns a connection to the current server, which is the primary. If it cannot be
// reached, or is not, the next one is the current server.
func (c *client) take(ctx context.Context) (conn, error) {
	c.mu.Lock()
	at := c.current
	if last := len(c.idle) - 1; last >= 0 {
		idle := c.idle[last]
		c.idle = c.idle[:last]
		c.mu.Unlock()
		return conn{idle, at}, nil
	}
	c.mu.Unlock()
	made, err := connect(ctx, c.addrs[at], c.dial, pgconn.ValidateConnectTargetSessionAttrsPrimary)
	if err != nil && !live.Canceled(ctx) {
		c.leave(at)
	}
	return conn{made, at}, err
}

// give takes a connection back, or closes it after a failure.
func (c *client) give(back conn, failed bool) {
	c.mu.Lock()
	keep := !failed && !c.closed && c.current == back.at
	if keep {
		c.idle = append(c.idle, back.Conn)
	}
	c.mu.Unlock()
	if !keep {
		hangUp(back.Conn)
	}
}

// leave makes the next server the current one, unless another request has done so.
func (c *client) leave(at int) {
	c.mu.Lock()
	var idle []*pgx.Conn
	if c.current == at {
		c.current = (at + 1) % len(c.addrs)
		idle, c.idle = c.idle, nil
	}
	c.mu.Unlock()
	for _, conn := range idle {
		hangUp(conn)
	}
}

// Close implements [live.StoreClient].
func (c *client) Close() error {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	for _, s := range c.sessions {
		idle = append(idle, s.Conn)
	}
	c.idle, c.sessions = nil, nil
	c.mu.Unlock()
	for _, conn := range idle {
		hangUp(conn)
	}
	return nil
}

// hangUp closes a connection without a word to the server, which may not answer.
func hangUp(conn *pgx.Conn) { _ = conn.PgConn().Conn().Close() }

// errNoCancel is the error of a second connection for a cancel request. A canceled commit
// would not be undone, but be visible before standbys have it.
var errNoCancel = errors.New("requests are not canceled at the server")

// connect connects to a server. validate checks the connection before it is used.
func connect(ctx context.Context, addr string, dial dialer, validate ...pgconn.ValidateConnectFunc) (*pgx.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s user=postgres dbname=postgres sslmode=disable", host, port))
	if err != nil {
		return nil, err
	}
	var dialed atomic.Bool
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		if dialed.Swap(true) {
			return nil, errNoCancel
		}
		return dial(ctx, addr)
	}
	config.Fallbacks, config.RuntimeParams = nil, nil // the environment may set them
	if len(validate) > 0 {
		config.ValidateConnect = validate[0]
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // one round trip a statement
	return pgx.ConnectConfig(ctx, config)
}
