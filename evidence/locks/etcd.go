package locks

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/etcdlocktest"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
)

// openEtcd is the mutex of etcd's client with a session for each hold, whose end it reports as the
// loss.
func openEtcd(env locktest.Env) locktest.Locker {
	return etcdlocktest.New(env, etcdtest.Client(env, clientv3.Config{}))
}
