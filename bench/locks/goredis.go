package locks

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockstorm/lockstorm/locktest"
)

// roomy is a pool of go-redis in which nobody waits for a connection: what is tried is the
// lock, and not a pool that was too small for it.
const roomy = 1000

// dial returns go-redis' client of a node, with these options.
func dial(env locktest.Env, addr string, options redis.Options) *redis.Client {
	options.Addr, options.Dialer, options.PoolSize = addr, env.Dial, roomy
	// Asking for notices of maintenance, which open-source Redis does not give, go-redis holds
	// a mutex while it waits for an answer: in a bubble time would stand still for ever.
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(&options)
	env.Cleanup(client.Close)
	return client
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
