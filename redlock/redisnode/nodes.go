package redisnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
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
	unended int64 // milliseconds that keys live which are given no end; 0: for ever

	identities *identities

	life context.Context // of every request; ends at Close
	end  context.CancelFunc

	requests headcount
	workers  headcount
	dials    headcount
}

// New returns the nodes at the addresses, host:port each; node 1 is the first.
// It does not connect: that is done when there is something to send. There have
// to be 1 to [env.MaxNodes] addresses, all different, and of different servers: a node that
// votes twice makes a quorum of what is none. Whether the servers are different is found out
// when they are connected to; see [ErrSameServer]. An option out of range is an error that
// names it.
func New(addrs []string, opts Options) (*Nodes, error) {
	if err := checkAddrs(addrs); err != nil {
		return nil, err
	}
	if err := opts.check(len(addrs)); err != nil {
		return nil, err
	}
	opts, err := opts.withDefaults().Resolved()
	if err != nil {
		return nil, err
	}
	n := &Nodes{runtime: opts.Runtime, prefix: opts.Prefix, unended: opts.DefaultTTL.Milliseconds(), identities: newIdentities(slices.Clone(addrs))}
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
	handshaker := newHandshaker(number, opts, n.identities)
	options.Dialer = newDialer(opts, opts.tls(number-1), handshaker, n.life, &n.dials).open
	return newNode(n, number, redis.NewClient(options), opts)
}

// Len returns the number of nodes.
func (n *Nodes) Len() int { return len(n.nodes) }

// Send hands cmd to every node of the set; see [env.Nodes]. A node answers
// [env.Failed] when it refused the command with an error, when no connection
// to it could be made or it refused the connection (the error then has the server's own
// words, as "ERR max number of clients reached"), when it is the server of another node
// ([ErrSameServer]), when the command was given up before it
// was sent, as most are to a node that answers nothing, when the time to live is not a whole
// number of milliseconds, at least one ([ErrTTL]), and after Close. It answers
// [env.Lost] in every other case in which there is no reply.
//
// Waiting for replies can be broken off at any time: it does not end the
// requests.
func (n *Nodes) Send(to env.NodeSet, cmd env.Command, giveUp env.Instant) env.Round {
	r := newRound(n.runtime, to.Len())
	deadline := n.deadline(giveUp)
	if err := n.admit(cmd, to.Len()); err != nil {
		for ; to != 0; to = to.Without(to.First()) {
			r.replies <- n.nodes[to.First()-1].reply(env.Reply{}, err)
		}
		return r
	}
	asked, requests := n.question(cmd), make([]request, to.Len())
	for i := range requests {
		requests[i] = request{question: asked, replies: r.replies, deadline: deadline}
		n.nodes[to.First()-1].submit(&requests[i])
		to = to.Without(to.First())
	}
	return r
}

// admit checks the command and, if it can be sent, counts its requests.
func (n *Nodes) admit(cmd env.Command, requests int) error {
	if err := check(cmd); err != nil {
		return err
	}
	if !n.requests.join(requests) {
		return errClosed
	}
	return nil
}

// deadline is giveUp on the machine's clock, or zero for [env.Never]. The
// client's clock is read here, on the client's own goroutine, and never by the
// requests.
func (n *Nodes) deadline(giveUp env.Instant) time.Time {
	if giveUp == env.Never {
		return time.Time{}
	}
	return time.Now().Add(giveUp.Sub(n.runtime.Now(env.Monotonic)))
}

// Close has to come after that of the mutexes on these nodes, or it cuts their
// clean-up short. It gives up all requests that are under way, which are then reported as
// [env.Lost], waits for them, and closes the connections. A second Close does
// nothing.
func (n *Nodes) Close() error {
	if !n.requests.dismiss() {
		return nil
	}
	n.end()
	var errs []error
	for _, node := range n.nodes {
		errs = append(errs, node.client.Close()) // ends the reads, which heed no cancelled context
		node.abandon()
	}
	n.requests.wait()
	n.workers.dismiss()
	n.workers.wait()
	n.dials.dismiss()
	n.dials.wait()
	return errors.Join(errs...)
}
