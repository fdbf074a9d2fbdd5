package redsynctest_test

import (
	"testing"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/redsynctest"
)

// A complete test. In a _test.go file it is called TestRedsyncInStorm, and t is its argument.
func Example() {
	TestRedsyncInStorm := func(t *testing.T) {
		options := &redis.Options{MaxRetries: -1} // those of production
		redsynctest.Run(t, func(env locktest.Env) *redsync.Redsync { return redsync.New(redsynctest.Pools(env, options)...) })
	}
	_ = TestRedsyncInStorm
}
