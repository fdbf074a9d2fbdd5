// Package stores runs locks that are kept in a replicated store on real servers of that
// store. Each product is a package below; this one lists them.
//
// They are not part of package process, so that programs which test a lock on Redis do not
// get the clients of all stores.
package stores

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/etcd"
	"github.com/lockstorm/lockstorm/internal/servers/stores/nats"
	"github.com/lockstorm/lockstorm/internal/servers/stores/postgres"
	"github.com/lockstorm/lockstorm/internal/servers/stores/redis"
	"github.com/lockstorm/lockstorm/internal/servers/stores/zookeeper"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Product is a replicated store whose servers this program starts. It is a backend for
// settings whose nodes are the members of such a store.
type Product struct {
	client   live.Store
	handlers live.FaultHandlers
	open     func(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error)
	version  func(ctx context.Context) string
	watched  bool
}

var products = []Product{
	{etcd.Store{}, etcd.Handlers, etcd.Open, etcd.Version, true},
	{nats.Store{}, nats.Handlers, nats.Open, nats.Version, false},
	{nats.Markers{}, nats.Handlers, nats.OpenMarkers, nats.Version, false},
	{postgres.Store{}, postgres.Handlers, postgres.Open, postgres.Version, true},
	onRedis(redis.Store{}),
	onRedis(redis.Store{Cluster: true}),
	{zookeeper.Store{}, zookeeper.Handlers, zookeeper.Open, zookeeper.Version, true},
}

func onRedis(s redis.Store) Product { return Product{s, redis.Handlers, s.Open, s.Version, false} }

// WithRedisServer returns the product with another redis-server than the one in PATH, such as
// valkey-server. It changes only products that run one.
func (p Product) WithRedisServer(binary string) Product {
	s, is := p.client.(redis.Store)
	if !is {
		return p
	}
	s.Binary = binary
	return onRedis(s)
}

// Products lists the stores.
func Products() []Product { return products }

// Named returns the store of that name.
func Named(name string) (p Product, ok bool) {
	for _, p := range products {
		if p.Product() == name {
			return p, true
		}
	}
	return Product{}, false
}

// Clients lists the products as their clients see them. In asynchronous replication Redis has other
// clients, because it is they who wait for replicas.
func Clients() (list []live.Store) {
	for _, p := range products {
		list = append(list, p.client)
		if r, is := p.client.(redis.Store); is {
			r.Asynchronous = true
			list = append(list, r)
		}
	}
	return list
}

// Name returns the backend's name in commands and stored runs.
func (Product) Name() string { return "process" }

// Product returns the product's name in scenarios.
func (p Product) Product() string { return p.client.Name() }

// Faults lists the kinds of faults that its worlds can inject.
func (p Product) Faults() []nemesis.Kind { return p.handlers.Kinds() }

// Features lists the features of those kinds that they support.
func (p Product) Features() []nemesis.Feature { return p.handlers.Features() }

// Watched reports whether a watch records the changes of its entries in the history: see
// [live.Fleet].
func (p Product) Watched() bool { return p.watched }

// Version returns the version of the installed servers, or "" if there are none.
func (p Product) Version(ctx context.Context) string { return p.version(ctx) }

// Open starts the servers and opens a world on them. The setting must be valid, and must not
// need other faults than [Product.Faults] and [Product.Features]. Events of the history go
// to sink one at a time. ctx bounds the start only. After an error nothing is left behind.
func (p Product) Open(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*live.World, error) {
	fleet, err := p.open(ctx, s, seed)
	if err != nil {
		return nil, err
	}
	return live.Open(s, seed, sink, fleet, p.handlers)
}
