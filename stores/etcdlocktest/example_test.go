package etcdlocktest_test

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdlocktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

// A complete test. In a _test.go file it is called TestMutexInStorm, and t is its argument.
func Example() {
	TestMutexInStorm := func(t *testing.T) {
		config := clientv3.Config{DialTimeout: time.Second} // that of production
		etcdlocktest.Run(t, func(env locktest.Env) *clientv3.Client { return etcdtest.Client(env, config) })
	}
	_ = TestMutexInStorm
}
