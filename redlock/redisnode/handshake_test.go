//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// A node that answers in time is used, though connecting to it takes longer than any request waits:
// a connection that is too late for its request serves another.
func TestConnectionOutlivesTheRequestItWasMadeFor(t *testing.T) {
	const giveUp = 100 * time.Millisecond
	b := newBench(t, 1, redisnode.Options{})
	network, err := wire.Open(1, []string{b.fleet.Server(1).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	network.Link(1, 1).Requests.Impose(1, nemesis.Rule{Delay: func(m nemesis.Message) time.Duration {
		if m.Key == "" { // HELLO
			return 3 * giveUp
		}
		return 0
	}})
	nodes := b.connect([]string{network.Link(1, 1).Addr()}, redisnode.Options{DialTimeout: patience})
	for end := time.Now().Add(patience); ; {
		answers := b.hear(nodes.Send(env.AllNodes(1), del("nobody"), in(giveUp)), 1)
		if answers[0] == env.No {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no request is answered: %v", answers)
		}
	}
}

// A node is greeted once on a connection, though go-redis says HELLO, too.
func TestNodeIsGreetedOnce(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	b.do(1, "CONFIG", "RESETSTAT")
	b.want(del("nobody"), env.No)
	if stats := b.do(1, "INFO", "commandstats").(string); !strings.Contains(stats, "cmdstat_hello:calls=1,") {
		t.Errorf("of one connection the node tells: %s", stats)
	}
}

// counting counts the connections that are made to each address.
type counting struct {
	mu    sync.Mutex
	dials map[string]int
}

func (c *counting) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	if c.dials == nil {
		c.dials = make(map[string]int)
	}
	c.dials[addr]++
	c.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func (c *counting) of(addr string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials[addr]
}

const tooMany = "-ERR max number of clients reached\r\n"

// A try that fails because servers refuse connections costs each of them one connection: there
// is nothing to delete where nothing was sent. Its error has the servers' words.
func TestRefusedTryCostsOneConnection(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	var connections counting
	refusing := []string{turnAway(tooMany)(b, 1), turnAway(tooMany)(b, 2)}
	nodes := b.connect(append(refusing, b.fleet.Server(1).Addr()), redisnode.Options{Dial: connections.dial})
	m, err := redlock.New(redlock.Config{TTL: time.Hour, NodeTimeout: patience, Linger: patience}, env.System(), nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.TryLock(t.Context(), "key")
	if !errors.Is(err, redlock.ErrNoQuorum) || strings.Count(err.Error(), "max number of clients reached") != len(refusing) {
		t.Errorf("%v, want the reason of each node", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	if err := m.Close(ctx); err != nil { // waits for the clean-up
		t.Error(err)
	}
	for _, addr := range refusing {
		if got := connections.of(addr); got != 1 {
			t.Errorf("%d connections to a node that refuses them, want 1", got)
		}
	}
	b.holds("key", "")
}

// Requests that wait while the only connection is being made fail with it: each batch of them
// would make the same attempt again.
func TestRequestsThatWaitForARefusedConnectionFailWithIt(t *testing.T) {
	const requests = 20
	reason := errors.New("not today")
	dialling, refuse := make(chan struct{}, requests), make(chan struct{})
	b := newBench(t, 1, redisnode.Options{})
	nodes := b.connect([]string{"somewhere:1"}, redisnode.Options{PoolSize: 1, Dial: func(context.Context, string, string) (net.Conn, error) {
		dialling <- struct{}{}
		<-refuse
		return nil, reason
	}})
	var rounds []env.Round
	for range requests {
		rounds = append(rounds, nodes.Send(1, set("a", time.Hour), env.Never))
		if len(rounds) == 1 {
			<-dialling
		}
	}
	close(refuse)
	for _, r := range rounds {
		if reply, err := r.Next(t.Context(), in(patience)); err != nil || reply.Answer != env.Failed || !errors.Is(reply.Err, reason) {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if len(dialling) != 0 {
		t.Errorf("%d more connections were attempted", len(dialling))
	}
}

// A server that has room again is used at once.
func TestServerThatRefusedIsUsedAsSoonAsItCan(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	fill(b, 1)
	for range 6 {
		b.want(set("a", time.Hour), env.Failed)
	}
	b.do(1, "CONFIG", "SET", "maxclients", "100")
	b.want(set("a", time.Hour), env.Yes)
}

// A server that closes idle connections costs no request.
func TestIdleConnectionsThatTheServerCloses(t *testing.T) {
	b := newBench(t, 1, redisnode.Options{})
	b.want(set("a", time.Hour), env.Yes)
	b.do(1, "CONFIG", "SET", "timeout", "1")
	for end := time.Now().Add(patience); strings.Count(b.do(1, "CLIENT", "LIST").(string), "\n") > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the idle connection stays")
		}
	}
	b.want(set("b", time.Hour), env.No)
	b.want(del("a"), env.Yes)
}

// These strikes put a listener in a server's place.

// swallow returns the address of a node that takes requests and never answers.
func swallow(b *bench, _ int) string { return blackHole(b.T) }

// deafen returns an address that nobody can connect to: the kernel drops the
// first packet of every handshake, because one connection that nobody accepts
// fills the listener's queue.
func deafen(b *bench, _ int) string {
	b.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "listener")
	b.Cleanup(func() { socket.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		b.Fatal(err)
	}
	l, err := net.FileListener(socket)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	addr := l.Addr().String()
	first, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { first.Close() })
	if second, err := net.DialTimeout("tcp", addr, 20*time.Millisecond); err == nil {
		second.Close()
		b.Fatal("the listener's queue is not full")
	}
	return addr
}

// resetAtOnce returns the address of a node that answers every connection's first
// request with its end, and resetLater that of one that answers the handshake before.
func resetAtOnce(b *bench, _ int) string { return resetAfter(b, "") }

func resetLater(b *bench, _ int) string { return resetAfter(b, "*0\r\n-NOPERM\r\n") }

func resetAfter(b *bench, answer string) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*net.TCPConn).SetLinger(0)
				if answer != "" {
					_, _ = conn.Read(make([]byte, 1000))
					_, _ = conn.Write([]byte(answer))
				}
				_, _ = conn.Read(make([]byte, 1))
			}()
		}
	}()
	return l.Addr().String()
}

// turnAway returns the address of a node that says something to each connection, unasked, and
// ends it. Redis does so to those that are one too many, and in protected mode.
func turnAway(said string) func(*bench, int) string {
	return func(b *bench, _ int) string {
		b.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte(said))
				conn.Close()
			}
		}()
		return l.Addr().String()
	}
}
