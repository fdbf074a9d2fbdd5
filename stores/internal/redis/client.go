package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Store is a deployment of Redis as its clients see it.
type Store struct {
	Cluster      bool // Redis Cluster; otherwise Redis Sentinel
	Asynchronous bool // clients do not wait for a majority of the copies

	// Acknowledged is how many replicas they wait for all the same. It is for asynchronous clients.
	Acknowledged nemesis.Acknowledged

	// Binary is the path of redis-server. If it is empty, it is looked up in PATH. Clients do not
	// use it.
	Binary string
}

// Name returns the product's name. Clients that wait for other replicas, or for none, have names of their own, by
// which a client in another process is made.
func (k Store) Name() string {
	name := "redis-sentinel"
	if k.Cluster {
		name = "redis-cluster"
	}
	if k.Asynchronous {
		name += "-asynchronous"
	}
	if k.Acknowledged != "" {
		name += "-" + string(k.Acknowledged)
	}
	return name
}

// Servers says how the product's servers are run. cluster-port, which is used here, came with Redis 7.0.
func (k Store) Servers() *live.StoreServers {
	// In asynchronous replication it is other clients, because it is they who wait for replicas.
	clients := []live.Store{Store{Cluster: k.Cluster}}
	for _, rule := range []nemesis.Acknowledged{"", nemesis.AcknowledgedByOne, nemesis.AcknowledgedByConnected, nemesis.AcknowledgedByCached} {
		clients = append(clients, Store{Cluster: k.Cluster, Asynchronous: true, Acknowledged: rule})
	}
	return &live.StoreServers{
		Product: k.product(), Port: 6379, Oldest: "7.0", Version: k.Version,
		Handlers: k.Handlers(), Start: k.Open, Installed: k.installed,
		Clients: clients,
		WithRedis: func(binary string) *live.StoreServers {
			k.Binary = binary
			return k.Servers()
		},
	}
}

// product is the name in scenarios.
func (k Store) product() string { return Store{Cluster: k.Cluster}.Name() }

// fewest is the smallest number of members that can fail over: a majority has to be left, and in
// Redis Cluster a replica.
func (k Store) fewest() int {
	if k.Cluster {
		return 1 + voters + 1
	}
	return 3
}

// copies is how many of the members keep the keys.
func (k Store) copies(members int) int {
	if k.Cluster {
		return members - voters
	}
	return members
}

type dialer = func(ctx context.Context, addr string) (net.Conn, error)

// Connect implements [live.Store].
func (k Store) Connect(addrs []string, dial dialer) (live.StoreClient, error) {
	c := &client{kind: k, addrs: addrs, dial: dial, ports: map[int64]int{}, values: map[name]string{}, own: map[string]bool{}}
	if !k.Asynchronous {
		c.acknowledgements = k.copies(len(addrs)) / 2
	}
	return c, nil
}

// client has a connection for each request under way, all to the same member, which it takes for
// the master. After a failure it goes on to the next member, after a redirection to the one that
// the redirection names.
type client struct {
	kind             Store
	addrs            []string
	dial             dialer
	acknowledgements int // of replicas, for which a request waits; with a rule, that says it

	mu      sync.Mutex
	counted *int          // the replicas of the first reply; nil: there was none
	current int           // the member whose address it uses
	idle    []*conn       // to the current member
	ports   map[int64]int // the members by the ports that they announce, as far as they are known
	closed  bool

	values map[name]string // of entries that the client has created or seen
	own    map[string]bool // the values of entries that it has created, or may have
}

// redirection is the error of a request that only another member can carry out. It has no effect.
type redirection struct {
	port int64 // which that member announces
}

func (r redirection) Error() string {
	return fmt.Sprintf("the request is for the member that announces port %d", r.port)
}

// errClosed is the error of a request after Close.
var errClosed = errors.New("the client is closed")

// notDone is the error of a request that has no effect, and will have none.
func notDone(err error) error { return fmt.Errorf("%w: %w", env.ErrNoLeader, err) }

// awaitInterval is the time between two looks at whether an entry is gone.
const awaitInterval = 10 * time.Millisecond

// Do implements [live.StoreClient].
func (c *client) Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	command := c.command(r)
	if command == nil {
		return env.StoreReply{}, unsupported(c.kind.Name(), r)
	}
	if r.Op == env.StoreCreate || r.Op == env.StoreUpdate {
		c.mu.Lock()
		c.own[r.Value] = true
		c.mu.Unlock()
	}
	for {
		reply, err := c.follow(ctx, command)
		if err == nil {
			c.remember(r, reply)
		}
		if r.Op != env.StoreAwait || err != nil {
			return reply, err
		}
		there := func(e env.Entry) bool { return e.Key == r.Key && e.Revision == r.Revision }
		if !slices.ContainsFunc(reply.Entries, there) {
			return env.StoreReply{Done: true}, nil
		}
		select {
		case <-ctx.Done():
			return env.StoreReply{}, context.Cause(ctx)
		case <-time.After(awaitInterval):
		}
	}
}

// follow sends a command to the current member, and follows redirections. Members that name each
// other are left for now after as many redirections as lead to every member twice.
func (c *client) follow(ctx context.Context, command []string) (reply env.StoreReply, err error) {
	for range 2 * len(c.addrs) {
		if reply, err = c.try(ctx, command); !errors.As(err, new(redirection)) {
			return reply, err
		}
	}
	return reply, notDone(err)
}

// try sends a command to the current member. After an error the client has left it.
func (c *client) try(ctx context.Context, command []string) (reply env.StoreReply, err error) {
	m, at, err := c.take(ctx)
	if err == nil {
		reply, err = c.send(ctx, m, command)
	}
	if err == nil {
		c.give(m)
		return reply, nil
	}
	to := redirection{}
	errors.As(err, &to)
	if !live.Canceled(ctx) {
		c.leave(at, to.port)
	}
	if m != nil {
		_ = m.Close()
	}
	return env.StoreReply{}, err
}

// send sends a command over a connection, and waits for the acknowledgements of replicas.
func (c *client) send(ctx context.Context, m *conn, command []string) (env.StoreReply, error) {
	batch := [][]string{command}
	if c.kind.Acknowledged != "" {
		batch = append(batch, []string{"ROLE"})
	}
	replies, err := m.call(ctx, batch...)
	if err != nil {
		return env.StoreReply{}, err
	}
	if refused, is := replies[0].(resp.Error); is {
		return env.StoreReply{}, refusal(refused)
	}
	enough := c.acknowledgements
	if c.kind.Acknowledged != "" {
		enough = c.ruled(replies[1])
	}
	if err := awaitReplicas(ctx, m, enough); err != nil {
		return env.StoreReply{}, err
	}
	return parse(replies[0])
}

// ruled returns how many replicas have to acknowledge by the rule, given a master's reply to ROLE.
func (c *client) ruled(role any) int {
	fields, _ := role.([]any) // "master", offset, replicas that are in sync
	if len(fields) != 3 {
		return 0
	}
	list, _ := fields[2].([]any)
	connected := len(list)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted == nil {
		c.counted = &connected
	}
	return c.kind.Acknowledged.Of(connected, *c.counted)
}

// awaitReplicas waits until enough replicas have what the last command on the connection has
// written.
func awaitReplicas(ctx context.Context, m *conn, enough int) error {
	if enough == 0 {
		return nil
	}
	timeout := "0" // none
	if end, ends := ctx.Deadline(); ends {
		timeout = millis(max(time.Until(end), time.Millisecond))
	}
	replies, err := m.call(ctx, []string{"WAIT", strconv.Itoa(enough), timeout})
	if err != nil {
		return err
	}
	if got, _ := replies[0].(int64); got < int64(enough) {
		return fmt.Errorf("%d replicas are to acknowledge, but WAIT replied %v", enough, replies[0])
	}
	return nil
}

// refusal is the error of a command to which a member has replied an error.
func refusal(e resp.Error) error {
	code, rest, _ := strings.Cut(string(e), " ")
	switch code {
	case "MOVED": // slot host:port
		port, err := strconv.ParseInt(rest[strings.LastIndex(rest, ":")+1:], 10, 64)
		if err != nil {
			return fmt.Errorf("%w: %w", e, err)
		}
		return redirection{port}
	case "READONLY", "CLUSTERDOWN", "LOADING", "MASTERDOWN":
		return notDone(e)
	}
	return e
}

// take returns a connection to the current member. Sentinel's clients connect to a master only.
func (c *client) take(ctx context.Context) (m *conn, at int, err error) {
	c.mu.Lock()
	at = c.current
	if last := len(c.idle) - 1; last >= 0 {
		m, c.idle = c.idle[last], c.idle[:last]
	}
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, at, errClosed
	case m != nil:
		return m, at, nil
	}
	m, err = c.connect(ctx, at)
	return m, at, err
}

// connect connects to a member.
func (c *client) connect(ctx context.Context, at int) (*conn, error) {
	network, err := c.dial(ctx, c.addrs[at])
	if err != nil {
		return nil, notDone(err)
	}
	m := &conn{Conn: network, in: resp.NewReader(network), member: at}
	if err := c.handshake(ctx, m); err != nil {
		_ = m.Close()
		return nil, err
	}
	return m, nil
}

// handshake learns which port the member announces to the others, and whether it is a master.
func (c *client) handshake(ctx context.Context, m *conn) error {
	replies, err := m.call(ctx, []string{"CONFIG", "GET", "replica-announce-port"}, []string{"ROLE"})
	if err != nil {
		return notDone(err)
	}
	setting, _ := replies[0].([]any) // name, value
	role, _ := replies[1].([]any)    // "master", …, or "slave", host and port of the master, …
	if len(setting) != 2 || len(role) < 3 {
		return notDone(fmt.Errorf("unexpected replies to CONFIG GET and ROLE: %v", replies))
	}
	port, err := strconv.ParseInt(fmt.Sprint(setting[1]), 10, 64)
	if err != nil {
		return notDone(err)
	}
	c.mu.Lock()
	c.ports[port] = m.member
	c.mu.Unlock()
	if master, is := role[2].(int64); is && !c.kind.Cluster {
		return redirection{port: master}
	}
	return nil
}

// give keeps a connection for the next request.
func (c *client) give(m *conn) {
	c.mu.Lock()
	keep := !c.closed && c.current == m.member
	if keep {
		c.idle = append(c.idle, m)
	}
	c.mu.Unlock()
	if !keep {
		_ = m.Close()
	}
}

// leave makes another member the current one, unless another request has done so: the one that
// announces a port, or the next one if that is not known.
func (c *client) leave(at int, port int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != at {
		return
	}
	to, known := c.ports[port]
	if !known || to == at {
		to = (at + 1) % len(c.addrs)
	}
	c.current = to
	c.closeIdle()
}

// closeIdle closes the connections that no request uses. The caller holds mu.
func (c *client) closeIdle() {
	for _, m := range c.idle {
		_ = m.Close()
	}
	c.idle = nil
}

// Close implements [live.StoreClient].
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.closeIdle()
	return nil
}
