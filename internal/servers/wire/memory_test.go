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
	return tcpSession{ours}, nil
}

// inBubble tests a connection in a bubble, which fails if a goroutine is left.
func inBubble(t *testing.T, test func(t *testing.T, c *pair)) {
	synctest.Test(t, func(t *testing.T) {
		c := new(pair)
		n := OpenInMemory(1, []Host{c})
		defer n.Close()
		c.link = n.Link(1, 1)
		var err error
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
		synctest.Wait() // the deadline of writes passes at the same time
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

// Data that arrived before the end is read before it, also after a deadline has passed. It arrives
// even if nobody reads: no later fault holds it back.
func TestEndsOfConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, c *pair) {
		p := make([]byte, 10)
		go func() {
			_, _ = c.its.Write([]byte("good"))
			_, _ = c.its.Write([]byte("bye"))
			_ = c.its.Close()
		}()
		synctest.Wait()
		c.link.Replies.Impose(1, cut)
		_ = c.SetReadDeadline(time.Unix(1, 0))
		if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		_ = c.SetReadDeadline(time.Time{})
		if n, err := io.ReadFull(c, p[:7]); string(p[:n]) != "goodbye" || err != nil {
			t.Errorf("%q, %v", p[:n], err)
		}
		if _, err := c.Read(p); err != io.EOF { //nolint:errorlint // as readers of connections compare it
			t.Error(err)
		}
		if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
		if _, err := c.Write(p); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("to a node that is gone: %v", err)
		}
		_ = c.Close()
		if _, err := c.Read(p); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
