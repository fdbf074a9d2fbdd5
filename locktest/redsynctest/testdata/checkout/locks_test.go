package checkout

import (
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/redsynctest"
)

func TestLocksInStorm(t *testing.T) {
	redsynctest.Run(t, func(env locktest.Env) *redsync.Redsync {
		return redsync.New(redsynctest.Pools(env, &redis.Options{})...)
	})
}

func TestPromptLocksInStorm(t *testing.T) {
	redsynctest.Run(t, func(env locktest.Env) *redsync.Redsync {
		return redsync.New(redsynctest.Pools(env, &redis.Options{ContextTimeoutEnabled: true, MaxRetries: -1})...)
	})
}
