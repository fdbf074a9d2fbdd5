package locks

import (
	"time"

	"github.com/lockstorm/lockstorm/locktest"
)

// Subject is a lock that is tried.
type Subject struct {
	Name    string
	Library string // the path of its module; empty: this project
	How     string // it is used
	Nodes   int
	Backend locktest.Backend
	Store   locktest.Store // that keeps it
	Extends bool           // a holder extends; otherwise the lock does so by itself

	// ExtendsOnly says that it differs from the one before in how it extends alone.
	ExtendsOnly bool

	Open func(locktest.Env) locktest.Locker
}

// Subjects are all locks on Redis. Those of this project are the line by which the
// others are measured: what they do not withstand either is a limit.
func Subjects() []Subject {
	const sync, single, caching = "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock", "github.com/redis/rueidis"
	return []Subject{
		{Name: "redlock", How: "this project's lock on 5 nodes, redlock.Defaults", Nodes: 5, Extends: true, Open: openRedlock},
		{Name: "redsync", Library: sync, How: "on 5 nodes, over go-redis with its defaults", Nodes: 5, Extends: true, Open: openRedsync},
		{Name: "redsync-tuned", Library: sync, How: "the same with WithFailFast(true), and go-redis with ContextTimeoutEnabled, MaxRetries -1 and timeouts of TTL/20", Nodes: 5, Extends: true, Open: openRedsyncTuned},
		{Name: "redsync-setnx", Library: sync, How: "as redsync-tuned, with WithSetNXOnExtend()", Nodes: 5, Extends: true, ExtendsOnly: true, Open: openRedsyncSetNX},
		{Name: "redlock-one-node", How: "this project's lock on 1 node, redlock.Defaults", Nodes: 1, Extends: true, Open: openRedlock},
		{Name: "redislock", Library: single, How: "on 1 node, over go-redis with its defaults", Nodes: 1, Extends: true, Open: openRedislock},
		{Name: "redislock-tuned", Library: single, How: "the same, and go-redis with ContextTimeoutEnabled, MaxRetries -1 and timeouts of TTL/20", Nodes: 1, Extends: true, Open: openRedislockTuned},
		{Name: "rueidislock", Library: caching, How: "on 1 node, a majority of 2 of 3 keys, DisableCache", Nodes: 1, Open: openRueidislockUncached},
		{Name: "rueidislock-setpx", Library: caching, How: "the same with FallbackSETPX", Nodes: 1, Open: openRueidislockSetPX},
		{Name: "rueidislock-cached", Library: caching, How: "on 1 node, a majority of 2 of 3 keys, with caching on the client's side; on a real redis-server", Nodes: 1, Backend: locktest.Process, Open: openRueidislock},
	}
}

// ttl is redsync's default expiry. In memory nobody waits for it; on real servers it is shorter.
func (s Subject) ttl() time.Duration {
	if s.Backend == locktest.Process {
		return briefTTL
	}
	return 8 * time.Second
}
