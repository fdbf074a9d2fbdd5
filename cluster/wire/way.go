package wire

import (
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Way is one direction of one link. It is safe for concurrent use.
type Way struct {
	place  nemesis.Message // what all messages that go this way have in common
	prefix string          // of keys
	closed <-chan struct{} // the network is being closed
	copier *copier         // of requests; nil: on a way of replies

	mu      sync.Mutex
	regime  regime
	free    time.Time     // when the last message has left that a narrow way has taken in
	changed chan struct{} // closed and replaced with every change of the regime
}

// regime is what faults do to a way.
type regime struct {
	rules     world.Rules
	resets    bool  // a connection that has something to carry is broken
	perSecond int64 // bytes; 0: as many as there are

	copies func() time.Duration // how much later a copy of each request comes; nil: there is none
}

func (n *Network) newWay(client, node int, direction nemesis.Direction) *Way {
	return &Way{
		place:  nemesis.Message{Client: client, Node: node, Way: direction},
		prefix: n.prefix, closed: n.closed, changed: make(chan struct{}),
	}
}

// Impose has messages come under the rule of a fault from now on. What is under
// way already keeps its time, and may be held back; no message overtakes another.
func (w *Way) Impose(fault int, r nemesis.Rule) {
	w.change(func(g *regime) { g.rules = g.rules.With(r, fault, false) })
}

// Lift takes back what Impose has done for the fault. What its rule has held
// back goes on.
func (w *Way) Lift(fault int) {
	w.change(func(g *regime) { g.rules = g.rules.Without(fault) })
}

// Reset has every connection broken, from now on, that has something to carry this way:
// requests before the node has seen them, replies after it has done what was asked. Or
// that is over.
func (w *Way) Reset(on bool) { w.change(func(g *regime) { g.resets = on }) }

// Narrow lets so many bytes a second pass, of all connections together, from now on. 0
// is no limit, and what has waited for one goes on.
func (w *Way) Narrow(perSecond int64) { w.change(func(g *regime) { g.perSecond = perSecond }) }

// Copy has every request come to its node once more, from now on, so much later than
// itself. A copy goes over a connection of its own, past whatever else befalls the way, and
// what the node answers to it nobody hears. nil: that is over; copies on their way still
// come.
func (w *Way) Copy(after func() time.Duration) { w.change(func(g *regime) { g.copies = after }) }

func (w *Way) change(how func(*regime)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how(&w.regime)
	close(w.changed)
	w.changed = make(chan struct{})
}

// now returns the regime and a channel that is closed when it changes.
func (w *Way) now() (regime, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.regime, w.changed
}

// leaves is when a message of so many bytes has left that comes now: behind all that
// came before it.
func (w *Way) leaves(bytes int) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.regime.perSecond == 0 {
		return time.Time{}
	}
	if now := time.Now(); w.free.Before(now) {
		w.free = now
	}
	w.free = w.free.Add(time.Duration(float64(bytes) / float64(w.regime.perSecond) * float64(time.Second)))
	return w.free
}
