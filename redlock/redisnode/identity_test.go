//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// localhost is another address of the same server.
func localhost(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return net.JoinHostPort("localhost", port)
}

// Two addresses of one server are one node, whichever is connected first. The error of the try
// names both.
func TestTwoAddressesOfOneServer(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	addrs := []string{b.addrs()[0], localhost(b.addrs()[0])}
	nodes := b.connect(addrs, redisnode.Options{})
	m, err := redlock.New(redlock.Config{TTL: time.Hour, NodeTimeout: patience, Linger: patience}, env.System(), nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.TryLock(t.Context(), "key")
	want := "two nodes are the same server: nodes 1 and 2, " + addrs[0] + " and " + addrs[1] + ", both have run_id "
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	b.holds("key", "")
	for range 3 {
		refused := 0
		r := nodes.Send(env.AllNodes(2), del("nobody"), in(patience))
		for range addrs {
			reply, err := r.Next(t.Context(), env.Never)
			if err != nil {
				t.Fatal(err)
			}
			if errors.Is(reply.Err, redisnode.ErrSameServer) && reply.Answer == env.Failed {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d of two nodes are refused, want 1", refused)
		}
	}
}

// A node that is down when the others are met is compared when it is back, under the run id
// that its server then has. Its own former run id is no other node's.
func TestRestartedServerIsANodeOfItsOwn(t *testing.T) {
	b := newBench(t, 2, redisnode.Options{})
	yes := []env.Answer{env.Yes, env.Yes}
	b.want(set("a", time.Hour), yes...)
	for range 2 {
		b.fleet.Server(2).Kill()
		b.want(del("a"), env.Yes, env.Failed)
		if err := b.fleet.Server(2).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.want(set("a", time.Hour), yes...)
	}
}

// switchboard dials one server for an address and later another.
type switchboard struct{ to [2]atomic.Pointer[string] }

func (s *switchboard) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, *s.to[strings.Index("12", addr[:1])].Load())
}

// Addresses may move to other servers. One that moves to that of another node is refused, and
// accepted as soon as it leads to a server of its own; two that are exchanged are both
// accepted in the end.
func TestAddressesThatMove(t *testing.T) {
	b := newBench(t, 2, redisnode.Options{})
	one, two := b.addrs()[0], b.addrs()[1]
	var s switchboard
	var nodes *redisnode.Nodes
	// No connection outlives a move.
	move := func(first, second string) {
		s.to[0].Store(&first)
		s.to[1].Store(&second)
		for n := range 2 {
			if err := b.plain[n].ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func() (refused int) {
		r := nodes.Send(env.AllNodes(2), del("nobody"), in(patience))
		for range 2 {
			if reply, err := r.Next(t.Context(), env.Never); err != nil {
				t.Fatal(err)
			} else if errors.Is(reply.Err, redisnode.ErrSameServer) {
				refused++
			}
		}
		return refused
	}
	settle := func(want int) {
		t.Helper()
		for end := time.Now().Add(patience); ask() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d nodes are refused, want %d", ask(), want)
			}
		}
	}
	s.to[0].Store(&one)
	s.to[1].Store(&two)
	nodes = b.connect([]string{"1:1", "2:1"}, redisnode.Options{Dial: s.dial})
	settle(0)
	move(one, one)
	settle(1)
	move(one, two)
	settle(0)
	move(two, one)
	settle(0)
}

// A server that does not tell its run id is taken for a node of its own: its user has no right
// to ask, or it is no Redis.
func TestServerThatHidesItsIdentity(t *testing.T) {
	b := newBenchOf(t, redisserver.Options{Nodes: 1}, redisnode.Options{})
	if err := b.plain[0].Do(t.Context(), "ACL", "SETUSER", "default", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	nodes := b.connect([]string{b.addrs()[0], localhost(b.addrs()[0])}, redisnode.Options{})
	for _, got := range b.hear(nodes.Send(env.AllNodes(2), del("nobody"), in(patience)), 2) {
		if got != env.No {
			t.Errorf("%v", got)
		}
	}

	var addrs []string
	for range 2 {
		addrs = append(addrs, miniredis.RunT(t).Addr())
	}
	nodes = b.connect(addrs, redisnode.Options{DB: 2})
	for _, got := range b.hear(nodes.Send(env.AllNodes(2), set("a", time.Hour), in(patience)), 2) {
		if got != env.Yes {
			t.Errorf("miniredis: %v", got)
		}
	}
}
