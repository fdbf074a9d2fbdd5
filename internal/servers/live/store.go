package live

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/lockstorm/lockstorm/env"
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

// DialServer connects to a server, past any link.
func DialServer(ctx context.Context, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

// ErrStoreOp is the error of a request that a kind of store cannot carry out.
var ErrStoreOp = errors.New("the store has no such operation")

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
