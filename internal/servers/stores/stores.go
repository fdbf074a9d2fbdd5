// Package stores runs locks that are kept in a replicated store on real servers of that
// store. Each product is a package below; this one lists them.
//
// They are not part of package process, so that programs which test a lock on Redis do not
// get the clients of all stores.
package stores

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/semver"

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
	oldest   string // version with what is used of it
	watched  bool
}

var products = []Product{
	onEtcd(etcd.Store{}),
	{nats.Store{}, durable(nats.Handlers), nats.Open, nats.Version, "2.9", false},
	{nats.Markers{}, durable(nats.Handlers), nats.OpenMarkers, nats.Version, "2.9", false},
	{postgres.Store{}, durable(postgres.Handlers), postgres.Open, postgres.Version, "13", true},
	onRedis(redis.Store{}),
	onRedis(redis.Store{Cluster: true}),
	{zookeeper.Store{}, durable(zookeeper.Handlers), zookeeper.Open, zookeeper.Version, "3.6", true},
}

// durable adds the losses of power to the handlers of a product that keeps its data on disks. Tests of a
// user's lock do without: they need root.
func durable(handlers live.FaultHandlers) live.FaultHandlers {
	return slices.Concat(handlers, live.PowerLosses())
}

func onRedis(s redis.Store) Product {
	return Product{s, redis.Handlers, s.Open, s.Version, "7.0", false}
}

func onEtcd(s etcd.Store) Product {
	return Product{s, durable(etcd.Handlers), s.Open, s.Version, "3.4", true}
}

// Programs are the paths of servers' programs that are used instead of those in PATH. Empty: the one
// in PATH.
type Programs struct {
	Redis string // redis-server, or another such as valkey-server
	Etcd  string
}

// With returns the product with other programs, if it runs them.
func (p Product) With(programs Programs) Product {
	switch s := p.client.(type) {
	case redis.Store:
		s.Binary = programs.Redis
		return onRedis(s)
	case etcd.Store:
		s.Binary = programs.Etcd
		return onEtcd(s)
	}
	return p
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
	fleet, err := p.start(ctx, s, seed)
	if err != nil {
		return nil, err
	}
	return live.Open(s, seed, sink, fleet, p.handlers)
}

// start starts the servers. The version is read only if they do not start, because that takes a
// second of a JVM.
func (p Product) start(ctx context.Context, s nemesis.Setting, seed uint64) (live.Fleet, error) {
	fleet, err := p.open(ctx, s, seed)
	if err != nil {
		err = cmp.Or(p.tooOld(ctx), err)
	}
	return fleet, err
}

// tooOld returns an error if the installed servers lack something that is used of them.
func (p Product) tooOld(ctx context.Context) error {
	version := p.version(ctx)
	if version == "" || semver.Compare("v"+version, "v"+p.oldest) >= 0 {
		return nil
	}
	return fmt.Errorf("%s %s is too old: want %s or newer", p.Product(), version, p.oldest)
}
