//go:build linux

package live

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// mustDial connects client 1 to node 1.
func (w *testWorld) mustDial() net.Conn {
	w.t.Helper()
	conn, err := w.Dial(context.Background(), 1, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func (w *testWorld) asks(conn net.Conn) {
	w.t.Helper()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		w.t.Errorf("write: %v", err)
	}
}

func (w *testWorld) hears(conn net.Conn) {
	w.t.Helper()
	got := make([]byte, 100)
	if n, err := conn.Read(got); err != nil || string(got[:n]) != "+PONG\r\n" {
		w.t.Errorf("read %q, %v", got[:n], err)
	}
}

// waitNotice is a context that reports when somebody waits for its end. A gate does so only
// while a goroutine of its client is paused.
type waitNotice struct {
	context.Context
	waiting chan struct{} // closed when the first waits
	once    sync.Once
}

func (c *waitNotice) Done() <-chan struct{} {
	c.once.Do(func() { close(c.waiting) })
	return c.Context.Done()
}

// whilePaused pauses client 1 while it does something. Client 2 ends the pause when client
// 1 is blocked and enough has returned. before runs first on client 1.
func whilePaused(t *testing.T, before, paused func(w *testWorld, conn net.Conn), enough func()) {
	over := nemesis.When(2, end, 0)
	w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{
		{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(2, begin, 0), End: &over},
	}})
	gate := w.client(1).gate
	notice := &waitNotice{Context: gate.over, waiting: make(chan struct{})}
	ready, stands := make(chan struct{}), make(chan struct{})
	var goesOn atomic.Bool
	w.mustRun(func(client int) {
		if client == 2 {
			<-ready
			w.Reach(2, begin, 0)
			close(stands)
			enough()
			select {
			case <-notice.waiting:
			case <-time.After(patience):
				t.Error("the client does not stand still")
			}
			goesOn.Store(true)
			w.Reach(2, end, 0)
			return
		}
		conn := w.mustDial()
		defer conn.Close()
		gate.over = notice // not sooner: the dialled connection too waits for the end of the run
		before(w, conn)
		close(ready)
		<-stands
		paused(w, conn)
		if !goesOn.Load() {
			t.Error("the client goes on in its pause")
		}
	})
}

// A client that was paused past its deadline first sees the reply that arrived meanwhile,
// and then the deadline.
func TestDialledConnectionHasALateReplyFirst(t *testing.T) {
	var plain *net.TCPConn
	whilePaused(t, func(w *testWorld, conn net.Conn) {
		plain = conn.(*gatedConn).Conn.(*net.TCPConn)
		w.asks(conn)
		_ = conn.SetReadDeadline(time.Now().Add(-time.Second)) // it has passed when the client goes on
	}, func(w *testWorld, conn net.Conn) {
		w.hears(conn)
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a second read: %v", err)
		}
		_ = conn.SetDeadline(time.Time{})
		w.asks(conn)
		w.hears(conn)
	}, func() { awaitBytes(t, plain) })
}

// awaitBytes waits until data has arrived on a connection, without reading it.
func awaitBytes(t *testing.T, conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n := 0
		_ = raw.Control(func(fd uintptr) {
			n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		})
		if n > 0 {
			return
		}
		if time.Now().After(end) {
			t.Error("no reply comes")
			return
		}
	}
}

// The connections and calls of a client end with the run.
func TestDialledConnectionEndsWithTheRun(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Horizon: 50 * time.Millisecond})
	ended := make(chan error, 3)
	w.mustRun(func(int) {
		conn := w.mustDial()
		go func() {
			_, err := conn.Read(make([]byte, 1))
			ended <- err
			_, err = conn.Write([]byte("PING\r\n"))
			ended <- err
			_, err = w.Dial(context.Background(), 1, 1)
			ended <- err
		}()
		calling, returned := w.Call(context.Background(), 1)
		defer returned()
		<-calling.Done()
	})
	for _, what := range []string{"a read", "a write", "another Dial"} {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The connections of a client that dies are closed, as its kernel does.
func TestConnectionsEndWithTheirClient(t *testing.T) {
	g := newGate(t.Context())
	ours, theirs := net.Pipe()
	if _, err := dialGated(t.Context(), g, func(context.Context) (net.Conn, error) { return ours, nil }); err != nil {
		t.Fatal(err)
	}
	g.pause()
	g.kill()
	_ = theirs.SetReadDeadline(time.Now().Add(patience))
	if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other end sees %v", err)
	}
}
