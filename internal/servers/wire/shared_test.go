package wire

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

// openShared opens a network of two clients and a node. The next connection is that of the client in
// the number that it returns.
func openShared(t *testing.T, node string) (*Network, *atomic.Int64) {
	t.Helper()
	who := new(atomic.Int64)
	n, err := OpenShared(2, []string{node}, func(net.Conn) int { return int(who.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, who
}

// All clients find a node at one address, and each connection is of its client's link.
func TestSharedAddress(t *testing.T) {
	e := startEcho(t)
	n, who := openShared(t, e.addr())
	if a, b := n.Link(1, 1).Addr(), n.Link(2, 1).Addr(); a != b {
		t.Fatalf("the node is at %s and at %s", a, b)
	}
	var conns []net.Conn
	for client := 1; client <= 2; client++ {
		who.Store(int64(client))
		conn := dial(t, n.Link(client, 1))
		say(t, conn, "hello")
		mustHear(t, conn, "hello")
		conns = append(conns, conn)
	}
	n.Link(2, 1).Each(nemesis.Both, func(d *Direction) { d.Impose(1, nemesis.HoldAll()) })
	say(t, conns[1], "held")
	mustHearNothing(t, conns[1])
	say(t, conns[0], "passes")
	mustHear(t, conns[0], "passes")
	n.Link(2, 1).Each(nemesis.Both, func(d *Direction) { d.Lift(1) })
	mustHear(t, conns[1], "held")
}

// The connection of somebody who is no client is closed.
func TestSharedAddressIsOfClientsOnly(t *testing.T) {
	n, _ := openShared(t, startEcho(t).addr())
	conn := dial(t, n.Link(1, 1))
	if got, err := io.ReadAll(conn); err == nil && len(got) > 0 {
		t.Errorf("read %q", got)
	}
}

// A link can wait for a node that is down.
func TestRetry(t *testing.T) {
	e := startEcho(t)
	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := down.Addr().String()
	down.Close()
	n, err := Open(1, []string{addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	n.Link(1, 1).Retry(patience)
	conn := dial(t, n.Link(1, 1))
	say(t, conn, "hello")
	mustHearNothing(t, conn)
	n.Link(1, 1).Redirect(e.addr())
	mustHear(t, conn, "hello")
	n.Link(1, 1).Retry(moment)
	n.Link(1, 1).Redirect(addr)
	conn = dial(t, n.Link(1, 1))
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

// A link can change what its client sends, and nothing else.
func TestRewrite(t *testing.T) {
	e := startEcho(t)
	n, err := Open(2, []string{e.addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	n.Link(1, 1).Rewrite(func(sent io.Reader) io.Reader {
		return io.MultiReader(strings.NewReader("first\n"), sent)
	})
	rewritten, plain := dial(t, n.Link(1, 1)), dial(t, n.Link(2, 1))
	say(t, rewritten, "second")
	mustHear(t, rewritten, "first")
	mustHear(t, rewritten, "second")
	say(t, plain, "third")
	mustHear(t, plain, "third")
}
