// Package zookeepertest has the store of locktest for locks that are kept in ZooKeeper:
//
//	locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: zookeepertest.Store}, open)
//
// The members of an ensemble are processes on this machine, of the ZooKeeper that the
// distribution's package installs. A client connects by the dialer of the environment:
//
//	zk.Connect(env.Addrs, env.TTL, zk.WithDialer(env.DialWithin))
//
// The tick is 200 ms, so a session lasts from 400 ms to an hour. Its end is rounded up to a tick,
// and its time can count from half a tick before the member has answered a heartbeat. Followers
// leave a leader that is silent for a second.
//
// Faults kill, shut down and stop members, and affect connections and clients. The clocks of
// members cannot be set, and no member loses what it has on disk.
package zookeepertest

import (
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/internal/zookeeper"
)

// Store is a ZooKeeper ensemble with a member for each node.
var Store = locktest.NewStore(zookeeper.Store{}.Servers())
