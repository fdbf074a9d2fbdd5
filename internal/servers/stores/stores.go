// Package stores runs locks that are kept in a replicated store on real servers of that
// store. Each product is a package below; this one lists them.
//
// They are not part of package process, so that programs which test a lock on Redis do not
// get the clients of all stores.
package stores

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/stores/etcd"
	"github.com/lockstorm/lockstorm/internal/servers/stores/nats"
	"github.com/lockstorm/lockstorm/internal/servers/stores/postgres"
	"github.com/lockstorm/lockstorm/internal/servers/stores/redis"
	"github.com/lockstorm/lockstorm/internal/servers/stores/zookeeper"
)

// Product is a replicated store whose servers this program starts, with its client. It is a backend for
// settings whose nodes are the members of such a store.
type Product struct {
	*live.StoreServers
	client served
}

// served is a client that knows how its servers are run.
type served interface {
	live.Store
	Servers() *live.StoreServers
}

// product adds the losses of power, if members can have disks of their own. Tests of a user's lock do
// without: they would need root.
func product(client served) Product {
	servers := client.Servers()
	if servers.Disks {
		servers.Handlers = slices.Concat(servers.Handlers, live.PowerLosses())
	}
	return Product{servers, client}
}

var products = []Product{
	product(etcd.Store{}),
	product(nats.Store{}),
	product(nats.Markers{}),
	product(postgres.Store{}),
	product(redis.Store{}),
	product(redis.Store{Cluster: true}),
	product(zookeeper.Store{}),
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
		return product(s)
	case etcd.Store:
		s.Binary = programs.Etcd
		return product(s)
	}
	return p
}

// Products lists the stores.
func Products() []Product { return products }

// Named returns the store of that name.
func Named(name string) (p Product, ok bool) {
	for _, p := range products {
		if p.Product == name {
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
