package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Store is a kind of store that servers replicate, as its clients see it.
type Store interface {
	// Name is its name in scenarios.
	Name() string

	// Connect returns a client of the store, whose members it reaches at the addresses, by
	// node. It prefers the first of them as long as that serves. All its network connections
	// are made by dial. Connect does not wait for the store.
	Connect(addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error)) (StoreClient, error)
}

// StoreClient is a client's connection to a store.
type StoreClient interface {
	// Do carries out a request and returns its reply, as [env.Store] defines it, at the latest
	// when ctx ends. An error that is [env.ErrNoLeader] says that the request has no effect,
	// and that the next one goes to another member. After any other error it may have one. It
	// is an error if the store cannot carry out requests of this kind.
	Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error)

	// Close closes the connections. Calls of Do may be under way, whose contexts have ended.
	// It is called once.
	Close() error
}

// StartStore makes a fleet of the servers of a store, which start adds to a group and
// starts, with the links between them, also after an error. watch returns what watches their entries:
// see [Fleet]. nil: nothing does. After an error nothing is left behind.
func StartStore[S Server](store Store, start func(*child.Group) ([]S, PeerLinks, error), watch func([]S) func(context.Context, EntryLog)) (Fleet, error) {
	group, err := child.NewGroup()
	if err != nil {
		return Fleet{}, err
	}
	servers, peers, err := start(group)
	closing := func() error { // the servers first: they would dial again
		defer peers.Close()
		return group.Close()
	}
	if err != nil {
		_ = closing()
		return Fleet{}, err
	}
	fleet := NewFleet(servers, group.Died(), closing)
	fleet.Store, fleet.Peers = store, peers
	if watch != nil {
		fleet.Watch = watch(servers)
	}
	return fleet, nil
}

// DialServer connects to a server, past any link.
func DialServer(ctx context.Context, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

// ErrStoreOp is the error of a request that a kind of store cannot carry out.
var ErrStoreOp = errors.New("the store has no such operation")

// connectStore connects the client to the store, if there is one. Like dead nodes, those of
// a store do not answer Redis' commands.
func (c *client) connectStore(kind Store, addrs []string) error {
	if kind == nil {
		return nil
	}
	first := (c.number - 1) % len(addrs)
	conn, err := kind.Connect(slices.Concat(addrs[first:], addrs[:first]), c.dialMember)
	c.store = conn
	return err
}

// dialMember connects the client to a member of the store. While the client is paused, the
// connection stands still.
func (c *client) dialMember(ctx context.Context, addr string) (net.Conn, error) {
	return dialGated(ctx, c.gate, func(ctx context.Context) (net.Conn, error) {
		return DialServer(ctx, addr)
	})
}

// storeNamed returns the kind of store with that name, or nil if the name is empty.
func storeNamed(name string, stores []Store) (Store, error) {
	for _, s := range stores {
		if s.Name() == name {
			return s, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("this program knows no store %q", name)
	}
	return nil, nil
}

// close closes all connections of the client.
func (c *client) close() error {
	err := c.nodes.Close()
	if c.store != nil {
		c.leaving.Do(func() { err = errors.Join(err, c.store.Close()) })
	}
	return err
}

// connectNodes connects a client to its nodes, whose servers are Redis unless they
// replicate a store.
func connectNodes(addrs []string, connect redisnode.Options, store Store) (connections, error) {
	if store != nil {
		return noNodes(len(addrs)), nil
	}
	return redisnode.New(addrs, connect)
}

// noNodes are nodes that are no Redis servers. No request to them is answered.
type noNodes int

func (n noNodes) Len() int     { return int(n) }
func (n noNodes) Close() error { return nil }

func (n noNodes) Send(env.NodeSet, env.Command, env.Instant) env.Round { return noRound{} }

type noRound struct{}

func (noRound) Next(context.Context, env.Instant) (env.Reply, error) {
	return env.Reply{}, env.ErrRoundOver
}

// clientStore is a client's [env.Store].
type clientStore struct{ client *client }

// storeOf returns the client's store, or nil.
func storeOf(c *client) env.Store {
	if c.store == nil {
		return nil
	}
	return clientStore{c}
}

// Ask implements [env.Store]. A request is given up according to the client's clock as it
// runs now, as one to a node is.
func (s clientStore) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	c := s.client
	c.gate.pass()
	machine, _ := c.clocks.due(env.Monotonic, until)
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.over, func() { stop(errRunOver) })()
	if machine != env.Never {
		late, cancel := context.WithTimeoutCause(waiting, machine.Sub(c.clocks.ground.shows(env.Monotonic)), env.ErrTimeout)
		defer cancel()
		waiting = late
	}
	reply, err := c.store.Do(waiting, r)
	cause := context.Cause(waiting)
	c.gate.pass()
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, ErrStoreOp):
		c.fail(err)
		runtime.Goexit()
	case ctx.Err() != nil:
		return env.StoreReply{}, ctx.Err()
	case errors.Is(cause, env.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return env.StoreReply{}, env.ErrTimeout
	case errors.Is(err, env.ErrNoLeader):
		return env.StoreReply{}, err
	}
	return env.StoreReply{}, errors.Join(env.ErrStoreLost, err)
}

// errRunOver ends the requests under way when the run is over.
var errRunOver = errors.New("the run is over")
