package memory

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
)

// Connect implements [wire.Host]. A server that is stopped still accepts connections, as
// its kernel would. A machine without power does not reply; its links hold everything until
// it is back, and it then does not know the connection.
func (n *node) Connect(client int) (wire.Session, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ours, its := net.Pipe()
	switch {
	case n.dark:
		return darkConn{ours}, its.Close()
	case n.run == nil:
		return nil, syscall.ECONNREFUSED
	}
	n.run.server.ServeConn(its)
	return &conn{Conn: ours, client: client, node: n, run: n.run, closed: make(chan struct{})}, nil
}

// darkConn is a connection to a machine without power.
type darkConn struct{ net.Conn }

// Ask implements [wire.Session].
func (s darkConn) Ask([]byte, time.Time) error { return syscall.ECONNRESET }

// conn is the client's end of a connection to a server.
type conn struct {
	net.Conn
	client int
	node   *node
	run    *serverRun

	known bool   // the server knows which client the connection belongs to
	begun []byte // of a command that has not been sent to its end

	mu     sync.Mutex
	coming []env.Instant // when each command was sent that the server has not started

	// Used by the goroutine that processes the commands.
	sent        env.Instant // when the current one was sent
	transaction bool        // commands are queued
	nested      any         // what miniredis knows of the commands of scripts; nil: not known

	closing sync.Once
	closed  chan struct{}
}

// Ask implements [wire.Session]. It waits while the server is stopped.
func (c *conn) Ask(piece []byte, sent time.Time) error {
	if err := c.awaitRunning(); err != nil {
		return err
	}
	if !c.known {
		c.known = true
		if err := c.identify(); err != nil {
			return err
		}
	}
	c.noteSent(piece, sent)
	c.node.clock.tick()
	c.node.sync(c.run)
	_, err := c.Write(piece)
	return err
}

// awaitRunning waits while the server is stopped.
func (c *conn) awaitRunning() error {
	for stopped := c.node.stopped(c.run); stopped != nil; stopped = c.node.stopped(c.run) {
		select {
		case <-stopped:
		case <-c.run.over:
			return syscall.ECONNRESET
		case <-c.closed:
			return net.ErrClosed
		}
	}
	return nil
}

// Read implements [io.Reader]. It returns nothing while the server is stopped.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if down := c.awaitRunning(); down != nil {
		return 0, down
	}
	return n, err
}

// noteSent records when the commands were sent that end in a piece. The server reads ahead while it
// processes a command, so the last one that arrived is not necessarily the current one.
func (c *conn) noteSent(piece []byte, sent time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = append(c.begun, piece...)
	for {
		_, rest, whole := resp.Command(c.begun)
		if !whole {
			return
		}
		c.begun = append(c.begun[:0], rest...)
		c.coming = append(c.coming, max(env.Instant(sent.Sub(c.node.clock.machine.began)), 1))
	}
}

// nextCommand notes that the server starts with the next command.
func (c *conn) nextCommand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.coming) > 0 {
		c.sent, c.coming = c.coming[0], c.coming[1:]
	}
}

// identifyCommand tells a server which of its peers is the other end of a connection.
// Miniredis does not know that.
const identifyCommand = "LOCKSTORM-INTRODUCTION"

// identify tells the server which client the connection belongs to. The server does not
// reply.
func (c *conn) identify() error {
	c.node.mu.Lock()
	c.run.coming = append(c.run.coming, c)
	number := strconv.Itoa(len(c.run.coming))
	c.node.mu.Unlock()
	_, err := fmt.Fprintf(c, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(identifyCommand), identifyCommand, len(number), number)
	return err
}

// identify records which connection a peer belongs to.
func (n *node) identify(l *serverRun, c *server.Peer, words []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, err := strconv.Atoi(strings.Join(words, "")); err == nil && number >= 1 && number <= len(l.coming) {
		l.peers[c], l.coming[number-1] = l.coming[number-1], nil
	}
	c.OnDisconnect(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(l.peers, c)
	})
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
