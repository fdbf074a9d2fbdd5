package sim

import (
	"math/bits"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var losing = world.Carry(
	func(w *World, c world.Case[*nemesis.Loss]) error {
		on := &loss{fault: c.Action, random: stream(w.seed, c.Stream())}
		w.disturb(c.Action.Links, c.Action.Way, func(l *lane) { l.loss = on })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Loss]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *lane) { l.loss = nil })
		return nil
	},
)

// loss is what a fault does to the transmissions over a lane.
type loss struct {
	fault  *nemesis.Loss
	random *rand.PCG // the fault's own
}

// hits draws whether a transmission is lost.
func (l *loss) hits() bool {
	draw, _ := bits.Mul64(l.random.Uint64(), 100)
	return int(draw) < l.fault.Percent
}

// loses draws whether message i is lost, and if so sees to it that it is sent
// again, or its connection reset after too many times. When it is sent again,
// it meets the link as it is then.
func (w *World) loses(i int32, l *lane, arrival class) bool {
	m := w.network.messages.at(i)
	if m.reset || !l.loss.hits() {
		return false
	}
	timeout := w.now + int64(l.loss.fault.Timeout(int(m.again)))
	if m.again == nemesis.Retransmissions {
		w.later(timeout, func() { w.neverSent(i, arrival) })
		return true
	}
	m.again++
	w.later(timeout, func() { w.transmit(i, l, arrival) })
	return true
}

// neverSent resets the connection of a message that could not be sent. Of a
// request the client knows it at once, as it was the one who sent it.
func (w *World) neverSent(i int32, arrival class) {
	m := w.network.messages.at(i)
	c := m.connection
	switch {
	case arrival == replyArrives:
		w.breakOff(i)
	case c != nil:
		w.sever(c)
		w.closed(i)
	default:
		m.answer, m.cause = env.Lost, brokenOff
		w.answered(i)
	}
}
