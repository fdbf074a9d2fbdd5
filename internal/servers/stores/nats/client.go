package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Store is a bucket as its clients see it, which delete keys by deleting their messages.
type Store struct{}

// Name returns the product's name.
func (Store) Name() string { return "nats" }

// Servers says how the product's servers are run.
func (k Store) Servers() *live.StoreServers { return servers(k, Open) }

// Connect implements [live.Store].
func (Store) Connect(addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error)) (live.StoreClient, error) {
	return newClient(addrs, dial, false), nil
}

// Markers is a bucket whose clients delete keys by markers, as the key-value API of NATS does.
type Markers struct{}

// Name returns the product's name.
func (Markers) Name() string { return "nats-markers" }

// Servers says how the product's servers are run.
func (k Markers) Servers() *live.StoreServers { return servers(k, OpenMarkers) }

func servers(k live.Store, start func(context.Context, nemesis.Setting, uint64) (live.Fleet, error)) *live.StoreServers {
	return &live.StoreServers{
		Product: k.Name(), Port: 4222, MaxNodes: maxMembers, Oldest: "2.9", Version: version,
		Handlers: Handlers, Disks: true, Start: start, Installed: installed, CheckTTL: checkTTL,
	}
}

// Connect implements [live.Store].
func (Markers) Connect(addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error)) (live.StoreClient, error) {
	return newClient(addrs, dial, true), nil
}

type client struct {
	*live.Member[*conn]
	members int
	markers bool

	mu     sync.Mutex
	bucket *bucket // nil: it is not known whether there is one
}

func newClient(addrs []string, dial func(ctx context.Context, addr string) (net.Conn, error), markers bool) *client {
	connect := func(addr string) (*conn, error) { return connect(dial, addr), nil }
	return &client{Member: live.NewMember(addrs, connect, (*conn).close), members: len(addrs), markers: markers}
}

// Do implements [live.StoreClient].
func (c *client) Do(ctx context.Context, r env.StoreRequest) (env.StoreReply, error) {
	do := c.operation(r)
	if do == nil {
		return env.StoreReply{}, unsupported(r)
	}
	member, err := c.Conn()
	if err != nil {
		return env.StoreReply{}, err
	}
	if err = member.await(ctx); err != nil {
		err = notDone(err)
	} else {
		var reply env.StoreReply
		if reply, err = do(ctx, member, r); err == nil || errors.Is(err, live.ErrStoreOp) {
			return reply, err
		}
	}
	if errors.Is(err, env.ErrNoLeader) { // perhaps there is no bucket: members that lose power forget it
		c.mu.Lock()
		c.bucket = nil
		c.mu.Unlock()
	}
	if !live.Canceled(ctx) {
		c.Leave(member)
	}
	return env.StoreReply{}, err
}

func unsupported(r env.StoreRequest) error {
	return fmt.Errorf("nats: %v of %+v: %w", r.Op, r, live.ErrStoreOp)
}

// notDone is the error of a request that has no effect, and will have none.
func notDone(err error) error { return fmt.Errorf("%w: %w", env.ErrNoLeader, err) }

// codeUnavailable is the code of a member's reply that there is no leader.
const codeUnavailable jetstream.ErrorCode = 10008

// unlessRefused is the error of a change: one that certainly has no effect is [env.ErrNoLeader].
func unlessRefused(err error) error {
	refused := new(jetstream.APIError)
	switch {
	case errors.Is(err, natsgo.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return notDone(err)
	case errors.As(err, &refused) && refused.ErrorCode == codeUnavailable:
		return notDone(err)
	}
	return err
}
