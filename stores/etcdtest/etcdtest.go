// Package etcdtest has the store of locktest for locks that are kept in etcd:
//
//	locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: etcdtest.Store}, open)
//
// The members of a cluster are processes on this machine, of the etcd in PATH. They have no TLS,
// no users and no keys. [Client] connects a client to them. One that is made elsewhere needs the
// dialer of the environment:
//
//	clientv3.New(clientv3.Config{
//		Endpoints:   env.Addrs,
//		DialOptions: []grpc.DialOption{grpc.WithContextDialer(env.DialAddr), grpc.WithNoProxy()},
//	})
//
// [locktest.Config].TTL has to be whole seconds, because leases last for whole seconds, at least
// one. A lease lasts up to half a second longer than its TTL. The election timeout is 500 ms.
//
// Faults kill, shut down and stop members, and affect connections and clients. The clocks of
// members cannot be set, and no member loses what it has on disk.
package etcdtest

import (
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores/internal/etcd"
)

// Store is an etcd cluster with a member for each node.
var Store = locktest.NewStore(etcd.Store{}.Servers())

// Client returns a client of the members with the user's configuration, but for the endpoints and
// the dialer. Without a logger in it the client logs nothing: storms break many connections. It is
// closed after the run.
func Client(env locktest.Env, c clientv3.Config) *clientv3.Client {
	c.Endpoints = env.Addrs
	c.DialOptions = append(slices.Clone(c.DialOptions), grpc.WithContextDialer(env.DialAddr), grpc.WithNoProxy())
	if c.Logger == nil && c.LogConfig == nil {
		c.Logger = zap.NewNop()
	}
	client, err := clientv3.New(c)
	env.Must(err)
	env.Cleanup(client.Close)
	return client
}
