package locks

import (
	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/goredistest"
	"github.com/lockstorm/lockstorm/locktest/redislocktest"
)

// openRedislock is redislock as its documentation shows it, over go-redis with its defaults.
func openRedislock(env locktest.Env) locktest.Locker { return single(env, redis.Options{}) }

// openRedislockTuned is redislock over a go-redis that waits for nobody longer than it must.
func openRedislockTuned(env locktest.Env) locktest.Locker { return single(env, prompt(env)) }

// single is redislock on the first node.
func single(env locktest.Env, options redis.Options) locktest.Locker {
	return redislocktest.New(env, redislock.New(goredistest.Client(env, roomy(options))), nil)
}
