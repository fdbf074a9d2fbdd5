package rueidislocktest_test

import (
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/rueidislocktest"
)

// A complete test. In a _test.go file it is called TestRueidislockInStorm, and t is its argument.
func Example() {
	TestRueidislockInStorm := func(t *testing.T) {
		option := rueidislock.LockerOption{KeyMajority: 1, ClientOption: rueidis.ClientOption{DisableCache: true}} // that of production
		rueidislocktest.Run(t, func(locktest.Env) rueidislock.LockerOption { return option })
	}
	_ = TestRueidislockInStorm
}
