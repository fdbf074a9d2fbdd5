package live

import (
	"math/bits"
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// What TCP makes of a bad network its ends see as delays and as resets. A loss is the time
// until the message has been sent again often enough; it meets the link as it was when it
// was sent first, and no connection is given up for it.
var losing = world.Carry(
	func(w *World, c world.Case[*nemesis.Loss]) error {
		rule := nemesis.Rule{Delay: retransmission(c.Action, draws(w.seed, c.Stream()))}
		w.disturb(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Impose(c.Number, rule) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Loss]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Lift(c.Number) })
		return nil
	},
)

// retransmission draws how much later a message comes of which transmissions are lost.
func retransmission(l *nemesis.Loss, draw func() uint64) func(nemesis.Message) time.Duration {
	return func(nemesis.Message) (late time.Duration) {
		for again := range nemesis.Retransmissions {
			if percent, _ := bits.Mul64(draw(), 100); int(percent) >= l.Percent {
				break
			}
			late += l.Timeout(again)
		}
		return late
	}
}

var resetting = world.Carry(
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.disturb(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Reset(true) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Reset(false) })
		return nil
	},
)

var narrowing = world.Carry(
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.disturb(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Narrow(c.Action.BytesPerSecond) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Narrow(0) })
		return nil
	},
)

// disturb does something bad to one way, or both, of every link of the selection.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Disturb(which, func(client, node int) { w.network.Link(client, node).Each(way, how) })
}

// mend takes it back.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Mend(which, func(client, node int) { w.network.Link(client, node).Each(way, how) })
}
