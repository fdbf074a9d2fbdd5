package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a connection in memory to a node whose end is a pipe of the test.
type pair struct {
	net.Conn          // the client's
	its      net.Conn // the node's
	link     *Link
}

// Addr implements [Host].
func (p *pair) Addr() string { return "node-1:6379" }

// Connect implements [Host].
func (p *pair) Connect(int) (Session, error) {
	var ours net.Conn
	ours, p.its = net.Pipe()
	return session{ours}, nil
}

// session ignores when data was sent.
type session struct{ net.Conn }

// Ask implements [Session].
func (s session) Ask(piece []byte, _ time.Time) error {
	_, err := s.Write(piece)
	return err
}

// inBubble tests a connection in a bubble, which fails if a goroutine is left.
func inBubble(t *testing.T, test func(t *testing.T, c *pair)) {
	synctest.Test(t, func(t *testing.T) {
		c := new(pair)
		n, err := OpenInMemory(1, []Host{c})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		c.link = n.Link(1, 1)
		if c.Conn, err = c.link.Dial(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.its.Close()
		test(t, c)
	})
}

// Writing never blocks, even if nobody reads, and data arrives in order.
func TestWritesDoNotWait(t *testing.T) {
	inBubble(t, func(t *testing.T, c *pair) {
		began := time.Now()
		c.link.Requests.Impose(1, slower(time.Hour))
		for range 1000 {
			say(t, c, "0123456789")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("writing took %v", took)
		}
		got := make([]byte, 11000)
		if _, err := io.ReadFull(c.its, got); err != nil || string(got[10989:]) != "0123456789\n" {
			t.Errorf("%q, %v", got[10989:], err)
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("it came after %v", took)
		}
	})
}

// Deadlines pass at their time, unless they were removed or moved.
func TestDeadlines(t *testing.T) {
	inBubble(t, func(t *testing.T, c *pair) {
		began, p := time.Now(), make([]byte, 10)
		_ = c.SetDeadline(began.Add(time.Second))
		if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		var timeout net.Error
		if _, err := c.Write(p); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("a write after it: %v", err)
		}
		_ = c.SetDeadline(time.Time{})
		time.AfterFunc(time.Second, func() { _ = c.SetReadDeadline(time.Now().Add(time.Second)) })
		if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		go func() { _, _ = c.its.Write([]byte("in time")) }()
		if n, err := c.Read(p); err != nil || string(p[:n]) != "in time" {
			t.Errorf("%q, %v", p[:n], err)
		}
	})
}

// Data that arrived before the end is read before it. Data that arrived after the deadline
// can be read by ReadArrived.
func TestEndsOfConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, c *pair) {
		p := make([]byte, 10)
		if n, err := c.near().ReadArrived(p); n != 0 || err != nil {
			t.Errorf("nothing has come: %d, %v", n, err)
		}
		go func() {
			_, _ = c.its.Write([]byte("bye"))
			_ = c.its.Close()
		}()
		synctest.Wait()
		_ = c.SetReadDeadline(time.Unix(1, 0))
		if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if n, err := c.near().ReadArrived(p[:1]); string(p[:n]) != "b" || err != nil {
			t.Errorf("%q, %v", p[:n], err)
		}
		_ = c.SetReadDeadline(time.Time{})
		if n, err := c.Read(p); string(p[:n]) != "ye" || err != nil {
			t.Errorf("%q, %v", p[:n], err)
		}
		if _, err := c.Read(p); err != io.EOF { //nolint:errorlint // as readers of connections compare it
			t.Error(err)
		}
		if _, err := c.Write(p); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("to a node that is gone: %v", err)
		}
		_ = c.Close()
		if _, err := c.Read(p); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := c.Write(p); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func (p *pair) near() *clientConn { return p.Conn.(*clientConn) }
