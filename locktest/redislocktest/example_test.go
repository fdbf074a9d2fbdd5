package redislocktest_test

import (
	"testing"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/goredistest"
	"github.com/lockstorm/lockstorm/locktest/redislocktest"
)

// A complete test. In a _test.go file it is called TestRedislockInStorm, and t is its argument.
func Example() {
	TestRedislockInStorm := func(t *testing.T) {
		options := &redis.Options{MaxRetries: -1} // those of production
		redislocktest.Run(t, func(env locktest.Env) *redislock.Client { return redislock.New(goredistest.Client(env, options)) })
	}
	_ = TestRedislockInStorm
}
