//go:build linux

package zookeeperlocktest_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/zookeeperlocktest"
	"github.com/lockstorm/lockstorm/stores/zookeepertest"
)

func connect(env locktest.Env) (*zk.Conn, <-chan zk.Event, error) {
	return zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(zookeeperlocktest.Silent))
}

// Law: a holder that takes the loss of the connection for the loss of the lock keeps its promises.
func TestRealStoreKeepsTheWatchedLock(t *testing.T) {
	externaltest.Correct(t, zookeepertest.Store, func(env locktest.Env) locktest.Locker {
		return zookeeperlocktest.NewWatched(env, connect)
	})
}

// Law: one that does not breaks V1 when it is cut off.
func TestRealStoreShowsAHolderThatIsNotTold(t *testing.T) {
	externaltest.Wrong(t, zookeepertest.Store, func(env locktest.Env) locktest.Locker {
		return zookeeperlocktest.New(env, connect)
	})
}
