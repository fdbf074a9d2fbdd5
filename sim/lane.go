package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// lane is one direction of a link, or of the way to the guarded resource. What
// faults do to it beside the rules stands in the file of each.
type lane struct {
	latency *nemesis.Table
	rules   world.Rules // of faults, for each message
	held    []int32     // messages that a rule holds back, at the end of the lane
	loss    *loss       // nil: none
	narrow  *bandwidth  // nil: as wide as one likes
	resets  bool        // the connection of whatever should go this way
	copies  *copying    // of what has come this way; nil: none
}

// each does something to the lanes of a direction.
func (l *link) each(way nemesis.Direction, do func(*lane)) {
	if way.Has(nemesis.Requests) {
		do(&l.requests)
	}
	if way.Has(nemesis.Replies) {
		do(&l.replies)
	}
}

// takes draws how long a message takes over the lane, but for its rules.
func (n *network) takes(l *lane) int64 { return int64(l.latency.Draw(n.random.Uint64())) }

// holds reports whether a rule holds message i back, which has come to the end
// of the lane, and if so keeps it. Where that never ends, the message is
// forgotten: a run of any length must not grow by it.
func (w *World) holds(l *lane, i int32) bool {
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

// lift takes the rule of a fault away. What it held back sets out once more,
// unless another rule holds it.
func (w *World) lift(l *lane, fault int) {
	l.rules = l.rules.Without(fault)
	held := l.held
	l.held = held[:0] // which grows no faster than the rest is looked at
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
