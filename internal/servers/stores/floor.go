package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Floor measures the cheapest request by which a lock could be taken: some clients, each with a
// key of its own, create the key if it does not exist, and delete it, again and again for so long.
// It returns how long the creations took. Clients reach the members over the same proxies as those
// of a lock.
func (p Product) Floor(ctx context.Context, s nemesis.Setting, clients int, during time.Duration) (took []time.Duration, err error) {
	fleet, err := p.Fleet(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	addrs := make([]string, len(fleet.Servers))
	for i, server := range fleet.Servers {
		addrs[i] = server.Addr()
	}
	network, err := wire.Open(clients, addrs)
	if err != nil {
		return nil, err
	}
	defer network.Close()

	group, ctx := errgroup.WithContext(ctx)
	lists := make([][]time.Duration, clients)
	for i := range clients {
		group.Go(func() (err error) {
			lists[i], err = p.swap(ctx, network, i+1, len(addrs), during)
			return err
		})
	}
	err = group.Wait()
	for _, list := range lists {
		took = append(took, list...)
	}
	return took, err
}

// floorTTL is longer than any measurement.
const floorTTL = time.Minute

// bareCreations are the creations without a session, the cheapest first. A store carries out the
// first that it knows.
var bareCreations = []env.StoreRequest{
	{Op: env.StoreCreate},
	{Op: env.StoreCreate, TTL: floorTTL},
	{Op: env.StoreCreate, TTL: floorTTL, Expires: true},
}

// swap is the work of one client, whose number begins at 1.
func (p Product) swap(ctx context.Context, network *wire.Network, number, members int, during time.Duration) (took []time.Duration, err error) {
	addrs := make([]string, members)
	for i := range addrs {
		addrs[i] = network.Link(number, i+1).Addr()
	}
	dial := network.Dialer(number)
	client, err := p.client.Connect(addrs, func(ctx context.Context, addr string) (net.Conn, error) { return dial(ctx, "tcp", addr) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	create := bareCreations
	for end := time.Now().Add(during); time.Now().Before(end); {
		r := create[0]
		r.Key = fmt.Sprintf("floor-%d", number)
		begin := time.Now()
		reply, err := client.Do(ctx, r)
		if errors.Is(err, live.ErrStoreOp) && len(create) > 1 {
			create = create[1:]
			continue
		}
		if errors.Is(err, env.ErrNoLeader) && ctx.Err() == nil {
			continue // the request has no effect, and the client goes on to the next member
		}
		if err != nil {
			return took, err
		}
		took = append(took, time.Since(begin))
		if !reply.Done {
			return took, fmt.Errorf("%s: the key of client %d exists", p.Product, number)
		}
		if _, err := client.Do(ctx, env.StoreRequest{Op: env.StoreDelete, Key: r.Key, Revision: reply.Entries[0].Revision}); err != nil {
			return took, err
		}
	}
	return took, nil
}
