package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

const (
	patience = 2 * time.Minute        // for what has to come
	moment   = 100 * time.Millisecond // for what must not
)

// echo is a server that sends every line back and records it.
type echo struct {
	listener net.Listener
	serving  sync.WaitGroup
	gone     atomic.Bool

	mu    sync.Mutex
	lines []string
	came  chan struct{}
}

func startEcho(t *testing.T) *echo {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{listener: l, came: make(chan struct{}, 1000)}
	e.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			e.serving.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); e.serving.Wait() })
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		e.mu.Lock()
		e.lines = append(e.lines, lines.Text())
		e.mu.Unlock()
		e.came <- struct{}{}
		fmt.Fprintln(conn, lines.Text())
	}
}

func (e *echo) addr() string { return e.listener.Addr().String() }

// Addr implements [Host].
func (e *echo) Addr() string { return e.addr() }

// Connect implements [Host].
func (e *echo) Connect(int) (Session, error) {
	if e.gone.Load() {
		return nil, syscall.ECONNREFUSED
	}
	ours, its := net.Pipe()
	e.serving.Go(func() { e.serve(its) })
	return tcpSession{ours}, nil
}

// leave takes the server down for new connections.
func (e *echo) leave() {
	e.gone.Store(true)
	e.listener.Close()
}

func (e *echo) heard() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.lines, " ")
}

// hears waits for one more line.
func (e *echo) hears(t *testing.T) {
	t.Helper()
	select {
	case <-e.came:
	case <-time.After(patience):
		t.Fatal("the server has not heard a thing")
	}
}

// cut holds everything back; slower delays it.
var cut = nemesis.Rule{Holds: func(nemesis.Message) bool { return true }}

func slower(by time.Duration) nemesis.Rule {
	return nemesis.Rule{Delay: func(nemesis.Message) time.Duration { return by }}
}

// opener opens a network of clients to servers.
type opener func(t *testing.T, clients int, nodes ...*echo) *Network

// networks are the two kinds of networks.
var networks = map[string]opener{
	"proxies": func(t *testing.T, clients int, nodes ...*echo) *Network {
		addrs := make([]string, len(nodes))
		for i, e := range nodes {
			addrs[i] = e.addr()
		}
		n, err := Open(clients, addrs)
		if err != nil {
			t.Fatal(err)
		}
		return n
	},
	"memory": func(t *testing.T, clients int, nodes ...*echo) *Network {
		hosts := make([]Host, len(nodes))
		for i, e := range nodes {
			hosts[i] = e
		}
		return OpenInMemory(clients, hosts)
	},
}

// onEach runs a test on both kinds of networks.
func onEach(t *testing.T, test func(t *testing.T, open opener)) {
	for name, open := range networks {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, clients int, nodes ...*echo) *Network {
				n := open(t, clients, nodes...)
				t.Cleanup(n.Close)
				return n
			})
		})
	}
}

func dial(t *testing.T, l *Link) net.Conn {
	t.Helper()
	conn, err := l.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func say(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(conn, line); err != nil {
		t.Fatal(err)
	}
}

// mustHear reads a line.
func mustHear(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(want)+1)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want+"\n" {
		t.Fatalf("heard %q (%v), want %q", got, err, want)
	}
}

func mustHearNothing(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(moment))
	got := make([]byte, 100)
	if n, err := conn.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("heard %q (%v), want nothing", got[:n], err)
	}
}

func TestHeldRequestTakesEffectLater(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		conn := dial(t, link)
		link.Requests.Impose(1, cut)
		say(t, conn, "one")
		say(t, conn, "two")
		mustHearNothing(t, conn)
		if got := server.heard(); got != "" {
			t.Errorf("over a cut link the server has heard %q", got)
		}
		link.Requests.Lift(1)
		mustHear(t, conn, "one")
		mustHear(t, conn, "two")
	})
}

func TestHeldRequestOutlivesItsSender(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		conn := dial(t, link)
		link.Requests.Impose(1, cut)
		say(t, conn, "will")
		conn.Close()
		time.Sleep(moment)
		if got := server.heard(); got != "" {
			t.Errorf("over a cut link the server has heard %q", got)
		}
		link.Requests.Lift(1)
		server.hears(t)
		if got := server.heard(); got != "will" {
			t.Errorf("the server has heard %q", got)
		}
	})
}

func TestDelayIsOfEveryMessageAndKeepsTheOrder(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		const delay = 80 * time.Millisecond
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		conn := dial(t, link)
		link.Requests.Impose(2, slower(delay))
		link.Replies.Impose(2, slower(delay))
		began := time.Now()
		say(t, conn, "one")
		mustHear(t, conn, "one")
		if took := time.Since(began); took < 2*delay {
			t.Errorf("a round trip took %v, less than twice %v", took, delay)
		}
		say(t, conn, "slow")
		time.Sleep(moment / 10)
		link.Requests.Lift(2)
		link.Replies.Lift(2)
		say(t, conn, "fast")
		mustHear(t, conn, "slow")
		mustHear(t, conn, "fast")
	})
}

// A proxy accepts connections to a node that is down, and closes them. In memory they are
// refused.
func TestNodeThatIsDownIsNoUse(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		server.leave()
		mustBeRefused(t, link)
	})
}

func mustBeRefused(t *testing.T, link *Link) {
	t.Helper()
	conn, err := link.Dial(t.Context())
	if err != nil {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Error(err)
		}
		return
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want the end of the connection", err)
	}
}

// A link that refuses makes a node that is up look like one that is down. Connections from before
// stay.
func TestLinkThatRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		before := dial(t, link)
		say(t, before, "before")
		mustHear(t, before, "before")
		link.Refuse(true)
		mustBeRefused(t, link)
		say(t, before, "still")
		mustHear(t, before, "still")
		link.Refuse(false)
		after := dial(t, link)
		say(t, after, "after")
		mustHear(t, after, "after")
	})
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	for name, open := range networks {
		t.Run(name, func(t *testing.T) {
			server := startEcho(t)
			before := runtime.NumGoroutine()
			n := open(t, 3, server, server)
			for client := 1; client <= 3; client++ {
				for node := 1; node <= 2; node++ {
					l := n.Link(client, node)
					if client == 2 {
						l.Requests.Impose(1, cut)
						l.Replies.Impose(2, slower(time.Hour))
					}
					gone := dial(t, l)
					say(t, gone, "bye")
					gone.Close()
					say(t, dial(t, l), "hello")
				}
			}
			time.Sleep(moment)
			n.Close()
			for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					stacks := make([]byte, 1<<20)
					t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
				}
			}
		})
	}
}

// A proxy that is redirected keeps its address, closes its connections and drops what it
// has held back.
func TestLeadElsewhere(t *testing.T) {
	before, after := startEcho(t), startEcho(t)
	n := networks["proxies"](t, 1, before)
	defer n.Close()
	l := n.Link(1, 1)
	held, addr := dial(t, l), l.Addr()
	l.Requests.Impose(1, cut)
	say(t, held, "held")
	mustHearNothing(t, held)
	l.Redirect(after.addr())
	_ = held.SetReadDeadline(time.Now().Add(patience))
	if _, err := held.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want the end of the connection", err)
	}
	l.Requests.Lift(1)
	if l.Addr() != addr {
		t.Errorf("the proxy has moved from %s to %s", addr, l.Addr())
	}
	say(t, dial(t, l), "new")
	after.hears(t)
	if before.heard() != "" || after.heard() != "new" {
		t.Errorf("the first server has heard %q, the second %q", before.heard(), after.heard())
	}
}

// Only complete commands are copied.
func TestWholeCommands(t *testing.T) {
	const get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
	for piece, want := range map[string]bool{get: true, get + get: true, get[:len(get)-1]: false, get + "*1\r\n$4\r\n": false, "PING\r\n": false} {
		if got := wholeCommands([]byte(piece)); got != want {
			t.Errorf("%q: %t", piece, got)
		}
	}
}

// A copy has its own connection, so its reply is not taken for the reply to another
// request. It arrives even if its client is gone.
func TestCopyOutlivesItsSender(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, server).Link(1, 1)
		conn := dial(t, link)
		link.Requests.Copy(func() time.Duration { return moment })
		const ping = "*1\r\n$4\r\nPING\r\n"
		say(t, conn, ping[:len(ping)-1]) // the echo ends lines
		for _, line := range []string{"*1", "$4", "PING"} {
			mustHear(t, conn, line)
		}
		link.Requests.Copy(nil)
		mustHearNothing(t, conn)
		conn.Close()
		for range 2*3 + 3 { // the request, its copy, and the end of that
			server.hears(t)
		}
		const want = "*1 $4 PING *1 $4 PING *1 $4 QUIT"
		if got := server.heard(); got != want {
			t.Errorf("the server has heard %q", got)
		}
	})
}

// The node's end of a connection closes when nothing has passed its link for the keepalive time. The
// client learns of it when the link is back. A link that is back in time keeps its connections.
func TestKeepAlive(t *testing.T) {
	for name, silent := range map[string]func(*Direction, bool){
		"a link that is cut": func(d *Direction, on bool) {
			if on {
				d.Impose(1, cut)
			} else {
				d.Lift(1)
			}
		},
		"a machine that is suspended": (*Direction).Silence,
	} {
		node, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		network, err := Open(1, []string{node.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		defer network.Close()
		link := network.Link(1, 1)
		open := func() (client, server net.Conn) {
			if client, err = link.Dial(t.Context()); err == nil {
				server, err = node.Accept()
			}
			if err != nil {
				t.Fatal(err)
			}
			return client, server
		}
		network.KeepAlive(time.Hour)
		client, server := open()
		silent(link.Requests, true)
		silent(link.Requests, false)
		link.Replies.Impose(2, slower(time.Nanosecond))
		for range 2 { // it lets everything pass
			if _, err := client.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(server, make([]byte, 1)); err != nil {
				t.Fatalf("%s for less than the keepalive time: %v", name, err)
			}
		}
		network.KeepAlive(time.Millisecond)
		client, server = open()
		silent(link.Replies, true)
		_ = server.SetReadDeadline(time.Now().Add(patience))
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the node's end of the connection: %v", name, err)
		}
		silent(link.Replies, false)
		_ = client.SetReadDeadline(time.Now().Add(patience))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the client's end of the connection: %v", name, err)
		}
	}
}
