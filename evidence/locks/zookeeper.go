package locks

import (
	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/zookeeperlocktest"
)

// connectZooKeeper opens a session with the library's defaults.
func connectZooKeeper(env locktest.Env) (*zk.Conn, <-chan zk.Event, error) {
	return zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin), zk.WithLogger(zookeeperlocktest.Silent))
}

// openZooKeeper is the lock of go-zookeeper. It reports no loss.
func openZooKeeper(env locktest.Env) locktest.Locker {
	return zookeeperlocktest.New(env, connectZooKeeper)
}

// openZooKeeperWatched is the same with a holder that counts the loss of the connection, of which
// the library reports an event, as the loss of the lock.
func openZooKeeperWatched(env locktest.Env) locktest.Locker {
	return zookeeperlocktest.NewWatched(env, connectZooKeeper)
}
