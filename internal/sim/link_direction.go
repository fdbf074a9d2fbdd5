package sim

import (
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// linkDirection is one direction of a link, or of the path to the guarded resource.
// Files fault_*.go hold what faults do to it.
type linkDirection struct {
	latency *nemesis.Table
	rules   world.Rules // of faults, applied to each message
	held    []int32     // messages that a rule holds back, just before they arrive
	loss    *loss       // nil: none
	narrow  *bandwidth  // nil: unlimited
	resets  bool        // a message in this direction resets its connection
	copies  *copier     // duplicates arriving requests; nil: none
}

// each calls do with the link directions that way selects.
func (l *link) each(way nemesis.Direction, do func(*linkDirection)) {
	if way.Includes(nemesis.Requests) {
		do(&l.requests)
	}
	if way.Includes(nemesis.Replies) {
		do(&l.replies)
	}
}

// takes draws how long a message takes, without the delays of rules.
func (n *network) takes(l *linkDirection) int64 { return int64(l.latency.Draw(n.random.Uint64())) }

// holds reports whether a rule holds back message i, which is about to arrive, and
// stores it if so. If the rule never ends, the message is dropped, so that memory
// does not grow with the length of the run.
func (w *World) holds(l *linkDirection, i int32) bool {
	held, forGood := l.rules.Holds(w.network.messages.at(i).seen())
	switch {
	case forGood:
		if m := w.network.messages.take(i); m.connection != nil {
			m.connection.forget(i, m.reset)
		}
	case held:
		l.held = append(l.held, i)
	}
	return held
}

// lift removes the rule of a fault. The messages that it held back are sent on,
// unless another rule holds them.
func (w *World) lift(l *linkDirection, fault int) {
	l.rules = l.rules.Without(fault)
	held := l.held
	l.held = held[:0] // reused: it grows no faster than the loop reads it
	for _, i := range held {
		switch {
		case w.holds(l, i):
		case w.network.messages.at(i).answer == 0:
			w.sendRequest(i)
		default:
			w.sendReply(i)
		}
	}
}
