package wire

import (
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Direction is one direction of one link. It is safe for concurrent use.
type Direction struct {
	place  nemesis.Message // what all its messages have in common
	prefix string          // of keys
	closed <-chan struct{} // the network is being closed
	copier *copier         // of requests; nil: this is the direction of replies

	mu      sync.Mutex
	regime  regime
	free    time.Time     // when the last message has left that came while the bandwidth was limited
	changed chan struct{} // closed and replaced with every change of the regime
}

// regime is what faults currently do to a direction.
type regime struct {
	rules     world.Rules
	resets    bool  // a message resets its connection
	perSecond int64 // bytes; 0: unlimited

	copies func() time.Duration // how much later a copy of each request arrives; nil: no copies
}

func (n *Network) newDirection(client, node int, direction nemesis.Direction) *Direction {
	return &Direction{
		place:  nemesis.Message{Client: client, Node: node, Way: direction},
		prefix: n.prefix, closed: n.closed, changed: make(chan struct{}),
	}
}

// Impose adds the rule of a fault. Messages already under way keep their delay, but the
// rule may hold them back. No message overtakes another.
func (d *Direction) Impose(fault int, r nemesis.Rule) {
	d.change(func(g *regime) { g.rules = g.rules.With(r, fault, false) })
}

// Lift removes the rule of a fault. The messages that it held back continue.
func (d *Direction) Lift(fault int) {
	d.change(func(g *regime) { g.rules = g.rules.Without(fault) })
}

// Reset makes each message in this direction reset its connection, or stops that. A
// request is lost before the node sees it, a reply after the node has applied it.
func (d *Direction) Reset(on bool) { d.change(func(g *regime) { g.resets = on }) }

// Narrow limits the bytes per second of all connections together. 0 means no limit;
// messages that waited continue.
func (d *Direction) Narrow(perSecond int64) { d.change(func(g *regime) { g.perSecond = perSecond }) }

// Copy sends every request to its node once more, later by what after returns. A copy
// travels over a connection of its own, which no other fault affects, and its reply is
// dropped. nil ends the copying; copies under way still arrive.
func (d *Direction) Copy(after func() time.Duration) { d.change(func(g *regime) { g.copies = after }) }

func (d *Direction) change(how func(*regime)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how(&d.regime)
	close(d.changed)
	d.changed = make(chan struct{})
}

// now returns the regime and a channel that is closed when it changes.
func (d *Direction) now() (regime, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.regime, d.changed
}

// leaves returns when a message of so many bytes that arrives now has left, behind all
// messages before it.
func (d *Direction) leaves(bytes int) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.regime.perSecond == 0 {
		return time.Time{}
	}
	if now := time.Now(); d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(bytes) / float64(d.regime.perSecond) * float64(time.Second)))
	return d.free
}
