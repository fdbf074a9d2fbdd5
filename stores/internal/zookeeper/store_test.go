//go:build linux

package zookeeper

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// ttl is longer than any test takes on a busy machine: only a heartbeat lets a session go on.
const ttl = 10 * time.Minute

// A client that is cut off for longer than its session lasts learns of it when it is back.
func TestExpiredSession(t *testing.T) {
	f := openFleet(t, 1)
	network, err := wire.Open(1, []string{f.server(1).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	link := network.Link(1, 1)
	cutOff := &fleet{&storetest.Fleet{Fleet: f.Fleet.Fleet, T: t, Client: f.ConnectTo(link.Addr())}}
	session := cutOff.OpenSession(5 * time.Second)
	e := cutOff.Create(env.StoreRequest{Key: "a/x", Session: session})
	link.Requests.Impose(1, nemesis.HoldAll())
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision})
	link.Requests.Lift(1)
	for _, r := range []env.StoreRequest{{Op: env.StoreCreate, Key: "a/x", Session: session}, {Op: env.StoreKeep, Session: session}} {
		if reply := cutOff.Insist(r); reply.Done || len(reply.Entries) > 0 {
			t.Errorf("%v: %+v", r.Op, reply)
		}
	}
	if left := cutOff.Insist(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries; len(left) > 0 {
		t.Errorf("there is still %v", left)
	}
}

// A session for which nobody sends heartbeats ends, although its client lives and the library sends
// pings.
func TestSessionWithoutHeartbeatsEnds(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(time.Second)
	e := f.Create(env.StoreRequest{Key: "lock/held", Value: "by nobody", Session: session})
	f.Client = f.Connect()
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision})
	f.Declined(env.StoreRequest{Op: env.StoreKeep, Session: session})
}
