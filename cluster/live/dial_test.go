//go:build linux

package live

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// mustDial connects client 1 to node 1.
func (w *trial) mustDial() net.Conn {
	w.t.Helper()
	conn, err := w.Dial(context.Background(), 1, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func (w *trial) asks(conn net.Conn) {
	w.t.Helper()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		w.t.Errorf("write: %v", err)
	}
}

func (w *trial) hears(conn net.Conn) {
	w.t.Helper()
	got := make([]byte, 100)
	if n, err := conn.Read(got); err != nil || string(got[:n]) != "+PONG\r\n" {
		w.t.Errorf("read %q, %v", got[:n], err)
	}
}

// whilePaused lets client 1 do something while it stands still, which client 2 sees to for
// a while: before is what it does first. It has to stand still in it.
func whilePaused(t *testing.T, long time.Duration, before, paused func(w *trial, conn net.Conn)) {
	over := nemesis.When(2, end, 0)
	w := newTrial(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{
		{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(2, begin, 0), End: &over},
	}})
	ready, stands := make(chan struct{}), make(chan struct{})
	var goesOn atomic.Bool
	w.mustRun(func(client int) {
		if client == 2 {
			<-ready
			w.Reach(2, begin, 0)
			close(stands)
			time.Sleep(long)
			goesOn.Store(true)
			w.Reach(2, end, 0)
			return
		}
		conn := w.mustDial()
		defer conn.Close()
		before(w, conn)
		close(ready)
		<-stands
		paused(w, conn)
		if !goesOn.Load() {
			t.Error("the client did not stand still")
		}
	})
}

func TestDialledConnectionStandsStillWithItsClient(t *testing.T) {
	const long = 50 * time.Millisecond
	nothing := func(*trial, net.Conn) {}
	t.Run("in a write", func(t *testing.T) { whilePaused(t, long, nothing, (*trial).asks) })
	t.Run("in a read", func(t *testing.T) { whilePaused(t, long, (*trial).asks, (*trial).hears) })
	t.Run("in a read that was waiting", func(t *testing.T) {
		heard := make(chan struct{})
		whilePaused(t, long, func(w *trial, conn net.Conn) {
			go func() {
				defer close(heard)
				w.hears(conn)
			}()
			time.Sleep(long / 5) // most likely it waits then
			if _, err := conn.(*gatedConn).Conn.Write([]byte("PING\r\n")); err != nil {
				t.Error(err)
			}
		}, func(*trial, net.Conn) { <-heard })
	})
}

// A client that stood still past the end of its time first sees the reply that came
// meanwhile, and then that its time is up.
func TestDialledConnectionHasALateReplyFirst(t *testing.T) {
	const limit = 40 * time.Millisecond
	whilePaused(t, 3*limit, func(w *trial, conn net.Conn) {
		w.asks(conn)
		_ = conn.SetReadDeadline(time.Now().Add(limit))
	}, func(w *trial, conn net.Conn) {
		w.hears(conn)
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a second read: %v", err)
		}
		_ = conn.SetDeadline(time.Time{})
		w.asks(conn)
		w.hears(conn)
	})
}

// Nothing of a run is left with who dialled: its connections and its calls end.
func TestDialledConnectionEndsWithTheRun(t *testing.T) {
	w := newTrial(t, nemesis.Setting{Horizon: 50 * time.Millisecond})
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
