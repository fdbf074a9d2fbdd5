package leaderelectiontest_test

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/leaderelectiontest"
)

// A complete test. In a _test.go file it is called TestLeaderElectionInStorm, and t is its argument.
func Example() {
	TestLeaderElectionInStorm := func(t *testing.T) {
		config := leaderelection.LeaderElectionConfig{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second} // that of production
		leaderelectiontest.Run(t, func(locktest.Env) leaderelection.LeaderElectionConfig { return config })
	}
	_ = TestLeaderElectionInStorm
}
