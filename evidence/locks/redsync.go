package locks

import (
	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/redsynctest"
)

// openRedsync is redsync as its README shows it, over go-redis with its defaults.
func openRedsync(env locktest.Env) locktest.Locker { return syncing(env, redis.Options{}) }

// openRedsyncTuned is redsync with what its options and those of go-redis offer against nodes
// that do not answer.
func openRedsyncTuned(env locktest.Env) locktest.Locker {
	return syncing(env, prompt(env), redsync.WithFailFast(true))
}

// openRedsyncSetNX is the former with an extension that sets keys anew that are gone.
func openRedsyncSetNX(env locktest.Env) locktest.Locker {
	return syncing(env, prompt(env), redsync.WithFailFast(true), redsync.WithSetNXOnExtend())
}

func syncing(env locktest.Env, options redis.Options, more ...redsync.Option) locktest.Locker {
	return redsynctest.New(env, redsync.New(redsynctest.Pools(env, roomy(options))...), more...)
}
