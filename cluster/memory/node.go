package memory

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/cluster/live"
)

// node is a Redis server in memory, over all its lives.
type node struct {
	addr  string
	keeps bool // its keys outlive it

	redis *miniredis.Miniredis
	clock *clock

	writing sync.Mutex // nobody writes while somebody has it
	disk    disk

	mu    sync.Mutex
	lives int
	life  *life // nil while it is down
	dark  bool  // and so is its machine
}

// life is that of a server, from one start to the next end.
type life struct {
	run    string // its name
	server *server.Server
	over   chan struct{} // closed at its end

	// Under the lock of the node.
	still chan struct{} // closed when it goes on; nil: it does not stand still
	state configuration
	own   map[*server.Peer]struct{} // peers whom miniredis answers as it does
}

// newNode returns a node that has not been started. keeps says that its keys outlive it.
func newNode(m machine, addr string, keeps bool) *node {
	redis := miniredis.NewMiniRedis()
	return &node{addr: addr, keeps: keeps, redis: redis, clock: newClock(m, redis)}
}

// Addr implements [live.Server].
func (n *node) Addr() string { return n.addr }

// Start implements [live.Crasher]. What goes with a server are its connections, its scripts
// and, unless they are kept, its keys.
func (n *node) Start(context.Context) error {
	if n.now() != nil {
		return fmt.Errorf("%s is already running", n.addr)
	}
	n.redis.Ctx, n.redis.CtxCancel = context.WithCancel(context.Background()) // ends what blocks
	first, err := n.redis.Dial()                                              // starts it
	if err != nil {
		return err
	}
	_ = first.Close()
	n.lives++
	l := &life{run: fmt.Sprintf("%s, life %d", n.addr, n.lives), server: n.redis.Server(), over: make(chan struct{}), own: map[*server.Peer]struct{}{}}
	if _, err := l.dispatch("SCRIPT", "FLUSH"); err != nil {
		return err
	}
	if n.isDark() {
		n.clock.tick()
		n.revert(l)
	}
	l.server.SetPreHook(func(c *server.Peer, command string, words ...string) bool { return n.answer(l, c, command, words) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life, n.dark = l, false
	return nil
}

// now is the life that the node is in, nil while it is down.
func (n *node) now() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// Kill implements [live.Crasher].
func (n *node) Kill() {
	l := n.now()
	if l == nil {
		return
	}
	n.mu.Lock()
	n.life = nil
	n.mu.Unlock()
	close(l.over)
	n.redis.Close()
	if !n.keeps {
		n.redis.FlushAll()
	}
}

// Quit implements [live.Crasher].
func (n *node) Quit() { n.Kill() }

// Stop implements [live.Stopper].
func (n *node) Stop() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil && n.life.still == nil {
		n.life.still = make(chan struct{})
	}
	return nil
}

// Continue implements [live.Stopper].
func (n *node) Continue() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil && n.life.still != nil {
		close(n.life.still)
		n.life.still = nil
	}
	return nil
}

// stands returns what is closed when the node goes on, nil if it does not stand still.
func (n *node) stands(l *life) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.still
}

// Connect implements [wire.Host]. A server that stands still has a kernel that accepts. A
// machine without power says nothing; its links are silent until it is back and knows
// nothing of the connection.
func (n *node) Connect() (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ours, its := net.Pipe()
	switch {
	case n.dark:
		return ours, its.Close()
	case n.life == nil:
		return nil, syscall.ECONNREFUSED
	}
	n.life.server.ServeConn(its)
	return &conn{Conn: ours, node: n, life: n.life, closed: make(chan struct{})}, nil
}

// conn is the clients' end of a connection to a server.
type conn struct {
	net.Conn
	node *node
	life *life

	closing sync.Once
	closed  chan struct{}
}

// runs returns when the server does not stand still.
func (c *conn) runs() error {
	for still := c.node.stands(c.life); still != nil; still = c.node.stands(c.life) {
		select {
		case <-still:
		case <-c.life.over:
			return syscall.ECONNRESET
		case <-c.closed:
			return net.ErrClosed
		}
	}
	return nil
}

// Read hears what the server says, which it does not while it stands still.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if still := c.runs(); still != nil {
		return 0, still
	}
	return n, err
}

// Write lets the server do something, when it does not stand still, by its clock.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.runs(); err != nil {
		return 0, err
	}
	c.node.clock.tick()
	c.node.sync(c.life)
	return c.Conn.Write(p)
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

var _ interface {
	live.Powered
	live.Stopper
	live.Commander
	live.Clocked
} = (*node)(nil)
