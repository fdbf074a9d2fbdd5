package wire

import (
	"io"
	"sync"
	"time"
)

// copier brings what a client has sent to a node once more, as a proxy does that sends
// requests again. Each copy has a connection of its own, over which it may come late, and
// the node's reply to it goes no further: in the client's stream of replies it would be
// taken for that to the next request.
type copier struct {
	node func() (Session, error) // makes a connection to the node, past the link

	mu       sync.Mutex
	closed   bool
	over     chan struct{} // closed with it
	underWay sync.WaitGroup
}

func newCopier(node func() (Session, error)) *copier {
	return &copier{node: node, over: make(chan struct{})}
}

// send sends a piece that was sent first at a time, so much later. It does not wait.
func (c *copier) send(piece []byte, sent time.Time, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.underWay.Go(func() { c.deliver(piece, sent, after) })
	}
}

func (c *copier) deliver(piece []byte, sent time.Time, after time.Duration) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.over:
		return
	}
	to, err := c.node()
	if err != nil {
		return // the node is down, and the copy is lost
	}
	var both sync.WaitGroup
	ended := make(chan struct{})
	both.Go(func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, to) // until it ends, in whatever way
	})
	both.Go(func() {
		_ = to.Ask(append(piece[:len(piece):len(piece)], quit...), sent) // fails only if it has ended
	})
	select {
	case <-ended:
	case <-c.over:
	}
	_ = to.Close()
	both.Wait()
}

// quit lets the node end a connection when it has carried out all that came before.
const quit = "*1\r\n$4\r\nQUIT\r\n"

// close drops all copies that have not been carried out.
func (c *copier) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.over)
	}
	c.mu.Unlock()
	c.underWay.Wait()
}

// whole reports whether a piece is some commands, and nothing else: others are not
// copied.
func whole(piece []byte) bool {
	for len(piece) > 0 {
		_, rest, ok := command(piece)
		if !ok {
			return false
		}
		piece = rest
	}
	return true
}
