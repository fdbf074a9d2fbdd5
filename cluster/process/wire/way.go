package wire

import (
	"sync"
	"time"
)

// Way is one direction of one link. It is safe for concurrent use.
type Way struct {
	closed <-chan struct{} // the network is being closed

	mu      sync.Mutex
	rule    rule
	changed chan struct{} // closed and replaced with every new rule
}

// rule is what happens to the messages of a way.
type rule struct {
	held  bool
	delay time.Duration
}

func newWay(closed <-chan struct{}) *Way {
	return &Way{closed: closed, changed: make(chan struct{})}
}

// Hold holds back, or lets through, what is under way and what comes.
func (w *Way) Hold(held bool) { w.change(func(r *rule) { r.held = held }) }

// Delay has messages arrive that much later, from now on. A message that is
// already under way keeps its time; none overtakes another.
func (w *Way) Delay(d time.Duration) { w.change(func(r *rule) { r.delay = d }) }

func (w *Way) change(how func(*rule)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how(&w.rule)
	close(w.changed)
	w.changed = make(chan struct{})
}

// now returns the rule and a channel that is closed when it changes.
func (w *Way) now() (rule, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rule, w.changed
}
