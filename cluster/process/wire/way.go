package wire

import (
	"slices"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Way is one direction of one link. It is safe for concurrent use.
type Way struct {
	place  nemesis.Message // what all messages that go this way have in common
	closed <-chan struct{} // the network is being closed

	mu      sync.Mutex
	rules   rules
	changed chan struct{} // closed and replaced with every change of the rules
}

// rules are what faults do to the messages of a way. A list is never changed,
// only replaced.
type rules []rule

type rule struct {
	nemesis.Rule
	fault int // its number
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
	w.change(func(old rules) rules { return append(old, rule{r, fault}) })
}

// Lift takes back what Impose has done for the fault. What its rule has held
// back goes on.
func (w *Way) Lift(fault int) {
	w.change(func(old rules) rules {
		return slices.DeleteFunc(old, func(r rule) bool { return r.fault == fault })
	})
}

func (w *Way) change(how func(rules) rules) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules = how(slices.Clone(w.rules))
	close(w.changed)
	w.changed = make(chan struct{})
}

// now returns the rules and a channel that is closed when they change.
func (w *Way) now() (rules, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rules, w.changed
}

// delay is how much longer a message takes.
func (l rules) delay(m nemesis.Message) (sum time.Duration) {
	for _, r := range l {
		if r.Delay != nil {
			sum += r.Delay(m)
		}
	}
	return sum
}

// hold reports whether a message is held back.
func (l rules) hold(m nemesis.Message) bool {
	return slices.ContainsFunc(l, func(r rule) bool { return r.Holds != nil && r.Holds(m) })
}
