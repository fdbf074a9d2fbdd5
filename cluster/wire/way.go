package wire

import (
	"sync"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Way is one direction of one link. It is safe for concurrent use.
type Way struct {
	place  nemesis.Message // what all messages that go this way have in common
	closed <-chan struct{} // the network is being closed

	mu      sync.Mutex
	rules   world.Rules
	changed chan struct{} // closed and replaced with every change of the rules
}

func newWay(client, node int, direction nemesis.Direction, closed <-chan struct{}) *Way {
	return &Way{
		place:  nemesis.Message{Client: client, Node: node, Way: direction},
		closed: closed, changed: make(chan struct{}),
	}
}

// Impose has messages come under the rule of a fault from now on. What is under
// way already keeps its time, and may be held back; no message overtakes another.
func (w *Way) Impose(fault int, r nemesis.Rule) {
	w.change(func(old world.Rules) world.Rules { return old.With(r, fault, false) })
}

// Lift takes back what Impose has done for the fault. What its rule has held
// back goes on.
func (w *Way) Lift(fault int) {
	w.change(func(old world.Rules) world.Rules { return old.Without(fault) })
}

func (w *Way) change(how func(world.Rules) world.Rules) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = how(w.rules)
	close(w.changed)
	w.changed = make(chan struct{})
}

// now returns the rules and a channel that is closed when they change.
func (w *Way) now() (world.Rules, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rules, w.changed
}
