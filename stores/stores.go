// Package stores lists the replicated stores whose servers Lockstorm starts, so that locks which are
// kept in them run on the real ones. Each product is a package below internal.
//
// They are a module of their own, so that whoever tests a lock on Redis compiles none of their clients.
package stores

import (
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/stores/internal/etcd"
	"github.com/lockstorm/lockstorm/stores/internal/postgres"
	"github.com/lockstorm/lockstorm/stores/internal/redis"
	"github.com/lockstorm/lockstorm/stores/internal/zookeeper"
)

// Products lists the stores. Each is a backend for settings whose nodes are its members.
func Products() []*live.StoreServers {
	return []*live.StoreServers{
		etcd.Store{}.Servers(),
		postgres.Store{}.Servers(),
		redis.Store{}.Servers(),
		redis.Store{Cluster: true}.Servers(),
		zookeeper.Store{}.Servers(),
	}
}
