package zookeeperlocktest_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/zookeeperlocktest"
)

// A complete test. In a _test.go file it is called TestLockInStorm, and t is its argument.
func Example() {
	TestLockInStorm := func(t *testing.T) {
		connect := func(env locktest.Env) (*zk.Conn, <-chan zk.Event, error) {
			return zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(zookeeperlocktest.Silent))
		}
		zookeeperlocktest.Run(t, connect)
	}
	_ = TestLockInStorm
}
