package sim

import (
	"math/bits"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var narrowing = world.Carry(
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.disturb(c.Action.Links, c.Action.Way, func(l *lane) { l.narrow = &bandwidth{perSecond: c.Action.BytesPerSecond} })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.mend(c.Action.Links, c.Action.Way, w.widen)
		return nil
	},
)

// bandwidth is that of one lane. Messages leave over it one after another.
type bandwidth struct {
	perSecond int64    // bytes
	line      []queued // the first is leaving
}

// queued is a message that waits to leave, and what happens when it arrives.
type queued struct {
	message int32
	arrival class
}

// takes is how long a message of so many bytes takes to leave, rounded up.
func (b *bandwidth) takes(bytes int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(time.Second))
	low, carry := bits.Add64(low, uint64(b.perSecond)-1, 0)
	takes, _ := bits.Div64(high+carry, low, uint64(b.perSecond))
	return int64(takes)
}

// queueUp puts a message at the end of those that wait to leave over a lane.
func (w *World) queueUp(i int32, l *lane, arrival class) {
	b := l.narrow
	b.line = append(b.line, queued{i, arrival})
	if len(b.line) == 1 {
		w.squeeze(l, b)
	}
}

// squeeze lets the first message of a line leave in its time, unless the lane
// has become wide meanwhile.
func (w *World) squeeze(l *lane, b *bandwidth) {
	takes := b.takes(size(w.network.messages.at(b.line[0].message)))
	w.later(w.now+takes, func() {
		if l.narrow != b {
			return
		}
		first := b.line[0]
		b.line = b.line[1:]
		w.leave(first.message, l, first.arrival)
		if len(b.line) > 0 {
			w.squeeze(l, b)
		}
	})
}

// widen makes a lane wide again. What waited leaves at once.
func (w *World) widen(l *lane) {
	line := l.narrow.line
	l.narrow = nil
	for _, q := range line {
		w.leave(q.message, l, q.arrival)
	}
}
