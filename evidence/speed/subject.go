package speed

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/redlock"
)

// ttl is the time to live of all keys.
const ttl = 10 * time.Second

// patience is how long one node's answer is waited for.
var patience = redlock.Defaults(ttl).NodeTimeout

// connections is how many a process may have to one node, as many as there are clients at
// the most.
const connections = 64

// Lock is a lock as the clients of one process share it.
type Lock interface {
	// Acquire tries once to acquire the resource, and returns what releases it.
	Acquire(ctx context.Context, resource string) (release func(context.Context) error, err error)
	// Close lets go of the servers.
	Close() error
}

// Subject is a lock that is measured.
type Subject struct {
	Name   string // in benchmarks
	What   string // does it do: keys, nodes, quorum
	Quorum bool   // it outlives the loss of a minority of the nodes

	// Open returns the lock on the nodes at the addresses. One that is no quorum uses the
	// first alone.
	Open func(addrs []string) (Lock, error)
}

// Subjects are all that is measured. The first is what the others are compared with.
func Subjects() []Subject {
	return []Subject{
		{"floor", "bare go-redis: one key on each of 5 nodes, SET NX PX to all at once, compare-and-delete to all at once; each returns with the third yes", true, openFloor},
		{"lockstorm", "one key on each of 5 nodes, a quorum of 3; each call returns with the third yes", true, openOurs},
		{"redsync", "one key on each of 5 nodes, a quorum of 3; each call waits for all 5", true, openRedsync},
		{"redsync-failfast", "the same with WithFailFast: each call returns with the third yes", true, openRedsyncFailFast},
		{"lockstorm-one-node", "one key on one node", false, openOursOnOneNode},
		{"redislock", "one key on one node", false, openRedislock},
		{"rueidislock-1-key", "one key on one node, of which client-side caching tells when it goes", false, openRueidislock(1)},
		{"rueidislock-5-keys", "5 keys on one node (its client knows one deployment, so they cannot lie on 5 masters), a majority of 3 keys", false, openRueidislock(3)},
	}
}

// plain returns go-redis' client of one node, as the floor and the rivals that build on it
// use it.
func plain(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, PoolSize: connections, MaxRetries: -1,
		ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience,
	})
}

func plainAll(addrs []string) (all []*redis.Client) {
	for _, addr := range addrs {
		all = append(all, plain(addr))
	}
	return all
}
