package redisnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
)

// Nodes are independent Redis masters, as one client sees them. It is safe for
// concurrent use.
type Nodes struct {
	runtime env.Runtime
	nodes   []*node // by node, from 0
	prefix  string

	servers *servers

	life context.Context // of every request; ends at Close
	end  context.CancelFunc

	requests drainGroup
	workers  drainGroup
	dials    drainGroup
}

// New returns the nodes at the addresses, host:port each; node 1 is the first.
// New does not connect; the first request does. It takes 1 to [env.MaxNodes] addresses,
// all different, and of different servers: a server that votes twice would make a minority look
// like a quorum. Two addresses of one server are detected on connecting; see [ErrSameServer].
// An option out of range is an error that names it.
func New(addrs []string, opts Options) (*Nodes, error) {
	if err := checkAddrs(addrs); err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	n := &Nodes{runtime: opts.Runtime, prefix: opts.Prefix, servers: newServers(slices.Clone(addrs))}
	n.life, n.end = context.WithCancel(context.Background())
	for i, addr := range addrs {
		n.nodes = append(n.nodes, n.node(i+1, addr, opts))
	}
	return n, nil
}

func checkAddrs(addrs []string) error {
	if len(addrs) < 1 || len(addrs) > env.MaxNodes {
		return fmt.Errorf("redisnode: %d nodes: want 1 to %d", len(addrs), env.MaxNodes)
	}
	for i, addr := range addrs {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("redisnode: node %d: %w", i+1, err)
		}
		if first := slices.Index(addrs, addr); first < i {
			return fmt.Errorf("redisnode: nodes %d and %d have the same address, %s", first+1, i+1, addr)
		}
	}
	return nil
}

func (n *Nodes) node(number int, addr string, opts Options) *node {
	options := clientOptions(opts, addr)
	handshaker := newHandshaker(number, opts, n.servers)
	options.Dialer = newDialer(opts, opts.TLS, handshaker, n.life, &n.dials).open
	return newNode(n, number, redis.NewClient(options), opts)
}

// Len returns the number of nodes.
func (n *Nodes) Len() int { return len(n.nodes) }

// Send sends cmd to every node of the set; see [env.Nodes]. The answer of a node is
// [env.Failed] when the command had no effect:
//
//   - the server refused the command with an error,
//   - no connection could be made, or the server refused it (the error then has the server's
//     own text, such as "ERR max number of clients reached"),
//   - the server is that of another node ([ErrSameServer]),
//   - the command expired before it was sent, as most do while a node does not reply,
//   - the TTL is not a whole number of milliseconds, at least one ([ErrTTL]), or
//   - the nodes have been closed.
//
// In every other case without a reply it is [env.Lost].
//
// A caller may stop waiting for replies at any time; the requests go on.
func (n *Nodes) Send(to env.NodeSet, cmd env.Command, giveUp env.Instant) env.Round {
	r := newRound(n.runtime, to.Len())
	deadline := n.deadline(giveUp)
	if err := n.admit(cmd, to.Len()); err != nil {
		for ; to != 0; to = to.Without(to.First()) {
			r.replies <- n.nodes[to.First()-1].reply(env.Reply{}, err)
		}
		return r
	}
	q, requests := n.query(cmd), make([]request, to.Len())
	for i := range requests {
		requests[i] = request{query: n.native(to.First(), cmd, q), replies: r.replies, deadline: deadline}
		n.nodes[to.First()-1].submit(&requests[i])
		to = to.Without(to.First())
	}
	return r
}

// admit checks the command and registers its requests, so that Close waits for them.
func (n *Nodes) admit(cmd env.Command, requests int) error {
	if err := check(cmd); err != nil {
		return err
	}
	if !n.requests.add(requests) {
		return errClosed
	}
	return nil
}

// deadline converts giveUp to the machine's clock; zero means [env.Never]. Only this function,
// on the client's own goroutine, reads the client's clock.
func (n *Nodes) deadline(giveUp env.Instant) time.Time {
	if giveUp == env.Never {
		return time.Time{}
	}
	return time.Now().Add(giveUp.Sub(n.runtime.Now(env.Monotonic)))
}

// Close ends all requests that are under way, reports them as [env.Lost], and closes the
// connections. Close the mutexes on these nodes first, or their clean-up is cut short. A second
// Close does nothing.
func (n *Nodes) Close() error {
	if !n.requests.close() {
		return nil
	}
	n.end()
	var errs []error
	for _, node := range n.nodes {
		errs = append(errs, node.client.Close()) // ends pending reads, which ignore a cancelled context
		node.close()
	}
	n.requests.wait()
	n.workers.close()
	n.workers.wait()
	n.dials.close()
	n.dials.wait()
	return errors.Join(errs...)
}

// drainGroup is a wait group that can be closed: afterwards nobody joins it, so that wait ends.
type drainGroup struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
}

// add adds n members, each of which has to call done. It returns false once the group is closed.
func (g *drainGroup) add(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.group.Add(n)
	}
	return !g.closed
}

func (g *drainGroup) done() { g.group.Done() }

// close closes the group, and reports whether this is the first call.
func (g *drainGroup) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.closed
	g.closed = true
	return first
}

func (g *drainGroup) wait() { g.group.Wait() }
