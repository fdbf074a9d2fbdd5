// Package natstest has the store of locktest for locks that are kept in JetStream of NATS:
//
//	locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: natstest.Store}, open)
//
// The members of a cluster are processes on this machine, of the nats-server in PATH or in
// /usr/sbin. They have no TLS, no users and no streams: the lock creates its bucket, with
// env.Addrs replicas. A client connects by the dialer of the environment:
//
//	nats.Connect(strings.Join(env.Addrs, ","), nats.SetCustomDialer(natstest.Dialer{Env: env}))
//
// A stream has at most five replicas, so there are at most five nodes. Messages live for at
// least 100 ms. Elections take 4 to 9 seconds.
//
// Faults kill, shut down and stop members, and affect connections and clients. The clocks of
// members cannot be set, and no member loses what it has written.
package natstest

import (
	"context"
	"net"

	"github.com/lockstorm/lockstorm/internal/servers/stores/nats"
	"github.com/lockstorm/lockstorm/locktest"
)

// Store is a NATS cluster with a member for each node.
var Store = locktest.NewStore(nats.Store{}.Servers())

// Dialer is a CustomDialer of nats.go that dials in an environment.
type Dialer struct{ Env locktest.Env }

// Dial connects to a member.
func (d Dialer) Dial(network, addr string) (net.Conn, error) {
	return d.Env.Dial(context.Background(), network, addr)
}
