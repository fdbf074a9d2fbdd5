//go:build linux

package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// connection is a session of a client in a test.
type connection struct {
	t    *testing.T
	c    live.StoreClient
	kind env.SessionKind
	id   uint64
}

func (f *fleet) open(c live.StoreClient, kind env.SessionKind, ttl time.Duration) connection {
	f.T.Helper()
	k := connection{f.T, c, kind, 0}
	storetest.Eventually(f.T, "a session is open", func() bool {
		reply, err := storetest.Try(f.T, c, time.Second, env.StoreRequest{Op: env.StoreOpen, Kind: kind, TTL: ttl})
		k.id = reply.Session
		return err == nil && reply.Done
	})
	return k
}

// ask carries out a request of the session, and reports whether it was done.
func (k connection) ask(op env.StoreOp, key string) bool {
	k.t.Helper()
	reply, err := storetest.Try(k.t, k.c, storetest.Patience, env.StoreRequest{Op: op, Key: key, Value: "v", Session: k.id, Kind: k.kind})
	return err == nil && reply.Done
}

// An advisory lock is one session's at a time, until it is released or the connection ends.
func TestAdvisoryLock(t *testing.T) {
	f := openFleet(t, setting(3))
	for _, kind := range []env.SessionKind{env.SessionConnection, env.SessionTransaction} {
		other := f.Connect()
		a, b := f.open(f.Client, kind, time.Hour), f.open(other, kind, time.Hour)
		steps := []struct {
			by   connection
			op   env.StoreOp
			key  string
			done bool
		}{
			{a, env.StoreCreate, "x", true},
			{b, env.StoreCreate, "x", false},
			{a, env.StoreCreate, "x", false}, // PostgreSQL itself would give it again
			{b, env.StoreDelete, "x", false},
			{b, env.StoreCreate, "y", true},
			{a, env.StoreDelete, "x", true},
			{a, env.StoreDelete, "x", false},
			{b, env.StoreDelete, "y", true},
			{b, env.StoreCreate, "x", true},
			{b, env.StoreKeep, "", true},
			{b, env.StoreClose, "", true},
			{b, env.StoreClose, "", false},
			{b, env.StoreKeep, "", false},
			{b, env.StoreCreate, "z", false},
		}
		for i, s := range steps {
			if done := s.by.ask(s.op, s.key); done != s.done {
				t.Errorf("kind %d, step %d, %v of %q: %t, want %t", kind, i, s.op, s.key, done, s.done)
			}
		}
		storetest.Eventually(t, "the lock of a closed connection is free", func() bool { return a.ask(env.StoreCreate, "x") })
		a.ask(env.StoreDelete, "x")
	}
}

// A new primary knows no advisory lock of the last one.
func TestAdvisoryLockDoesNotSurviveAFailover(t *testing.T) {
	f := openFleet(t, setting(3))
	a := f.open(f.Client, env.SessionConnection, time.Hour)
	if !a.ask(env.StoreCreate, "x") {
		t.Fatal("the lock is not free")
	}
	f.server(1).Kill()
	f.leader(1)
	if b := f.open(f.Connect(), env.SessionConnection, time.Hour); !b.ask(env.StoreCreate, "x") {
		t.Error("the new primary knows the lock")
	}
	if a.ask(env.StoreKeep, "") {
		t.Error("the session survives")
	}
}

// The server ends a transaction that is idle for the TTL, and not a session.
func TestIdleTransactionEnds(t *testing.T) {
	f := openFleet(t, setting(1))
	idle := f.open(f.Client, env.SessionConnection, 50*time.Millisecond)
	if !idle.ask(env.StoreCreate, "session") {
		t.Fatal("the lock is not free")
	}
	a := f.open(f.Client, env.SessionTransaction, 50*time.Millisecond)
	if !a.ask(env.StoreCreate, "transaction") {
		t.Fatal("the lock is not free")
	}
	b := f.open(f.Connect(), env.SessionConnection, time.Hour)
	storetest.Eventually(t, "the lock of the idle transaction is free", func() bool { return b.ask(env.StoreCreate, "transaction") })
	if a.ask(env.StoreKeep, "") {
		t.Error("the transaction goes on")
	}
	if b.ask(env.StoreCreate, "session") || !idle.ask(env.StoreKeep, "") {
		t.Error("the idle session has ended")
	}
}

// A server keeps the lock of a client that it cannot reach for the keepalive time of the proxies, and
// gives it to another then. The client learns of it when the link is back.
func TestUnreachableClientLosesItsLock(t *testing.T) {
	f := openFleet(t, setting(1))
	network, err := wire.Open(1, []string{f.server(1).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	network.KeepAlive(100 * time.Millisecond)
	link := network.Link(1, 1)
	a := f.open(f.ConnectTo(link.Addr()), env.SessionConnection, time.Hour)
	b := f.open(f.Client, env.SessionConnection, time.Hour)
	if !a.ask(env.StoreCreate, "x") || b.ask(env.StoreCreate, "x") {
		t.Fatal("the lock is not the first client's")
	}
	link.Requests.Impose(1, nemesis.HoldAll())
	storetest.Eventually(t, "the other client gets the lock", func() bool { return b.ask(env.StoreCreate, "x") })
	link.Requests.Lift(1)
	if a.ask(env.StoreKeep, "") || a.ask(env.StoreDelete, "x") {
		t.Error("the session goes on")
	}
}

// A server that is killed gives nobody the lock of a session that ends with it.
func TestKilledServerGrantsNothing(t *testing.T) {
	f := openFleet(t, setting(1))
	server := f.server(1)
	open := func() *pgx.Conn {
		conn, err := connect(t.Context(), server.Addr(), live.DialServer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { hangUp(conn) })
		return conn
	}
	try := func(conn *pgx.Conn) (got bool, err error) {
		err = conn.QueryRow(t.Context(), "SELECT pg_try_advisory_lock(1)").Scan(&got)
		return got, err
	}
	for range 20 {
		if got, err := try(open()); err != nil || !got {
			t.Fatal(got, err)
		}
		granted := make(chan bool, competitors)
		for range competitors {
			conn := open()
			go func() {
				for {
					if got, err := try(conn); got || err != nil {
						granted <- got
						return
					}
				}
			}()
		}
		server.Kill()
		for range competitors {
			if <-granted {
				t.Fatal("the server has granted the lock while it was killed")
			}
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// competitors try all the time to get a lock, so that some are at it when the server is killed.
const competitors = 8
