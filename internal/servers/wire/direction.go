package wire

import (
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Direction is one direction of a link. It is safe for concurrent use.
type Direction struct {
	link      *Link
	base      nemesis.Message // what all its messages have in common
	keepAlive time.Duration   // after which silence ends the node's connections; 0: never

	mu      sync.Mutex
	silence *time.Timer // runs while nothing can pass; nil: something can
	faults  directionFaults
	free    time.Time     // when the last message has left that came while the bandwidth was limited
	changed chan struct{} // closed and replaced with every change of faults
}

// directionFaults is what faults currently do to a direction.
type directionFaults struct {
	rules     world.Rules
	resets    bool   // a message resets its connection
	resetNext func() // the next message to come does, and this is called; nil: it does not
	silent    bool   // the machine at the other end is suspended
	perSecond int64  // bytes; 0: unlimited

	copies func() time.Duration // how much later a copy of each request arrives; nil: no copies
}

func newDirection(l *Link, node int, way nemesis.Direction) *Direction {
	return &Direction{link: l, base: nemesis.Message{Client: l.client, Node: node, Way: way}, changed: make(chan struct{})}
}

// Impose adds the rule of a fault. Messages already under way keep their delay, but the
// rule may hold them back. No message overtakes another.
func (d *Direction) Impose(fault int, r nemesis.Rule) {
	d.change(func(g *directionFaults) { g.rules = g.rules.With(r, fault, false) })
}

// Lift removes the rule of a fault. The messages that it held back continue.
func (d *Direction) Lift(fault int) {
	d.change(func(g *directionFaults) { g.rules = g.rules.Without(fault) })
}

// Reset makes each message in this direction reset its connection, or stops that. A
// request is lost before the node sees it, a reply after the node has applied it.
func (d *Direction) Reset(on bool) {
	d.change(func(g *directionFaults) { g.resets, g.resetNext = on, nil })
}

// ResetNext makes the next message in this direction reset its connection, and calls struck when it
// has come. Messages under way do not reset theirs.
func (d *Direction) ResetNext(struck func()) {
	d.change(func(g *directionFaults) { g.resetNext = struck })
}

// takeReset reports whether the message that has come is the one that [Direction.ResetNext] waits for.
func (d *Direction) takeReset() bool {
	d.mu.Lock()
	struck := d.faults.resetNext
	d.faults.resetNext = nil
	d.mu.Unlock()
	if struck != nil {
		struck()
	}
	return struck != nil
}

// Silence says whether the machine at the other end is suspended. That matters only to
// [Network.KeepAlive].
func (d *Direction) Silence(on bool) { d.change(func(g *directionFaults) { g.silent = on }) }

// Narrow limits the bytes per second of all connections together. 0 means no limit;
// messages that waited continue.
func (d *Direction) Narrow(perSecond int64) {
	d.change(func(g *directionFaults) { g.perSecond = perSecond })
}

// Copy sends every request to its node once more, later by what after returns. A copy
// travels over a connection of its own, which no other fault affects, and its reply is
// dropped. nil ends the copying; copies under way still arrive.
func (d *Direction) Copy(after func() time.Duration) {
	d.change(func(g *directionFaults) { g.copies = after })
}

func (d *Direction) change(how func(*directionFaults)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how(&d.faults)
	d.watchSilence()
	close(d.changed)
	d.changed = make(chan struct{})
}

// watchSilence starts the timer of KeepAlive when nothing can pass any more, and stops it when
// something can. The caller holds mu.
func (d *Direction) watchSilence() {
	held, _ := d.faults.rules.Holds(d.base)
	switch silent := d.faults.silent || held; {
	case d.keepAlive == 0:
	case silent && d.silence == nil:
		d.silence = time.AfterFunc(d.keepAlive, d.link.lose)
	case !silent && d.silence != nil:
		d.silence.Stop()
		d.silence = nil
	}
}

// now returns the faults and a channel that is closed when it changes.
func (d *Direction) now() (directionFaults, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults, d.changed
}

// sentBy returns when a message of that size, arriving now, has been sent at the limited
// bandwidth, after all messages before it. Without a limit it returns the zero time.
func (d *Direction) sentBy(bytes int) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.faults.perSecond == 0 {
		return time.Time{}
	}
	if now := time.Now(); d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(bytes) / float64(d.faults.perSecond) * float64(time.Second)))
	return d.free
}
