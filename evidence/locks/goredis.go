package locks

import (
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
)

// poolSize is that of a pool in which nobody waits for a connection: what is tried is the lock, and
// not a pool that was too small for it.
const poolSize = 1000

// roomy returns the options of go-redis with such a pool.
func roomy(options redis.Options) *redis.Options {
	options.PoolSize = poolSize
	return &options
}

// prompt are the options of go-redis by which a node that does not answer costs little: the
// deadlines of contexts count, nothing is sent again, and a reply is waited for no longer than
// a twentieth of the TTL, as redsync waits for one.
func prompt(env locktest.Env) redis.Options {
	patience := env.TTL / 20
	return redis.Options{
		ContextTimeoutEnabled: true, MaxRetries: -1,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience,
	}
}
