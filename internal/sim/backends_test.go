package sim

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// connected is a client with a session that is a connection.
type connected struct {
	user
	session uint64
	kind    env.SessionKind
}

func (u user) openConnection(t *testing.T, kind env.SessionKind, ttl time.Duration) connected {
	t.Helper()
	reply, err := u.try(env.StoreRequest{Op: env.StoreOpen, TTL: ttl, Kind: kind}, time.Second)
	if err != nil || !reply.Done {
		t.Fatalf("open: %+v, %v", reply, err)
	}
	return connected{u, reply.Session, kind}
}

func (c connected) asks(op env.StoreOp, key string) string {
	return c.ask(env.StoreRequest{Op: op, Key: key, Value: "v", Session: c.session, Kind: c.kind}, time.Second)
}

// free waits until another client has the entry k, and returns when it got it.
func (u user) free() time.Duration {
	var c connected
	for {
		reply, err := u.try(env.StoreRequest{Op: env.StoreOpen, TTL: time.Hour, Kind: env.SessionConnection}, time.Second)
		if err == nil {
			c = connected{u, reply.Session, env.SessionConnection}
			break
		}
	}
	for {
		reply, err := u.try(env.StoreRequest{Op: env.StoreCreate, Key: "k", Session: c.session, Kind: c.kind}, time.Second)
		switch {
		case err != nil || !reply.Done && len(reply.Entries) == 0:
			return u.free() // over another connection
		case reply.Done:
			return time.Duration(u.world.time())
		}
		_ = u.world.Runtime(u.id).Sleep(context.Background(), u.now().Add(ms))
	}
}

// A connection ends with its program, with its leader, and a TTL after its machine has answered
// last. A program that stands still keeps it, but not a transaction.
func TestWhatEndsAConnection(t *testing.T) {
	const ttl, released = 100 * ms, 400 * ms
	until := nemesis.At(5 * time.Second)
	for name, c := range map[string]struct {
		fault       nemesis.Action
		kind        env.SessionKind
		from, until time.Duration // when another client gets the entry
	}{
		"nothing":     {nil, env.SessionConnection, released, released + 10*ms},
		"idle":        {nil, env.SessionTransaction, ttl, ttl + 10*ms},
		"pause":       {&nemesis.Pause{Client: 1}, env.SessionConnection, 5 * time.Second, 5*time.Second + 10*ms},
		"kill":        {&nemesis.Kill{Client: 1}, env.SessionConnection, 11 * ms, 20 * ms},
		"suspend":     {&nemesis.Suspend{Client: 1}, env.SessionConnection, ttl - ttl/probes, 2 * ttl},
		"partition":   {&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{1}}}, env.SessionConnection, ttl - ttl/probes, 2 * ttl},
		"other link":  {&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{2, 3}}}, env.SessionConnection, released, released + 10*ms},
		"crash":       {&nemesis.Crash{Node: 1}, env.SessionConnection, 20 * ms, ttl},
		"node-pause":  {&nemesis.NodePause{Node: 1}, env.SessionConnection, 20 * ms, 2 * time.Second},
		"other crash": {&nemesis.Crash{Node: 2}, env.SessionConnection, released, released + 10*ms},
	} {
		t.Run(name, func(t *testing.T) {
			var plan nemesis.Plan
			if c.fault != nil {
				f := nemesis.Fault{Action: c.fault, Start: nemesis.At(10 * ms), End: &until}
				if _, dies := c.fault.(*nemesis.Kill); dies {
					f.End = nil
				}
				plan = nemesis.Plan{f}
			}
			var got time.Duration
			play(t, stored(2, 3, plan...), func(w *World) {
				h := user{w, 1}.openConnection(t, c.kind, ttl)
				expect(t, "create", h.asks(env.StoreCreate, "k"), "k@0=v at 4ms")
				_ = w.Runtime(1).Sleep(context.Background(), env.Instant(released))
				h.asks(env.StoreDelete, "k")
			}, func(w *World) {
				_ = w.Runtime(2).Sleep(context.Background(), env.Instant(8*ms))
				u := user{w, 2}
				u.connect(1)
				got = u.free()
			})
			if got < c.from || got > c.until {
				t.Errorf("another client got the entry after %v, want %v to %v", got, c.from, c.until)
			}
		})
	}
}

// Requests of a session that is a connection: no replication, no revision, and no other node than
// the leader.
func TestConnections(t *testing.T) {
	play(t, stored(1, 3), func(w *World) {
		u := user{w, 1}
		u.connect(2)
		expect(t, "at a follower", u.ask(env.StoreRequest{Op: env.StoreOpen, TTL: time.Second, Kind: env.SessionConnection}, time.Second), "no leader at 2ms")
		u.connect(1)
		a, b := u.openConnection(t, env.SessionConnection, time.Second), u.openConnection(t, env.SessionConnection, time.Second)
		expect(t, "create", a.asks(env.StoreCreate, "k"), "k@0=v at 8ms")
		expect(t, "again", b.asks(env.StoreCreate, "k"), "declined k@0=v at 10ms")
		expect(t, "list", u.ask(list, time.Second), "done at 12ms")
		expect(t, "delete by another", b.asks(env.StoreDelete, "k"), "declined at 14ms")
		expect(t, "keep", b.asks(env.StoreKeep, ""), "done at 16ms")
		expect(t, "close", a.asks(env.StoreClose, ""), "done at 18ms")
		expect(t, "keep when closed", a.asks(env.StoreKeep, ""), "declined at 20ms")
		expect(t, "create when free", b.asks(env.StoreCreate, "k"), "k@0=v at 22ms")
	})
}
