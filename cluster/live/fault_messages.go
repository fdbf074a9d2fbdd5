package live

import (
	"math/bits"
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var messageFaults = FaultHandlers{
	// carrying carries out every fault that does nothing but to messages between
	// clients and nodes, by the rule that it has for them.
	handler[nemesis.Traffic]{
		Begin: func(w *World, f injection[nemesis.Traffic]) error {
			r := f.Action.Rule(draws(w.seed, f.Stream()))
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.disturb(links, way, func(l *wire.Way) { l.Impose(f.Number, r) })
			}
			return nil
		},
		End: func(w *World, f injection[nemesis.Traffic]) error {
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.mend(links, way, func(l *wire.Way) { l.Lift(f.Number) })
			}
			return nil
		},
	},
	// What TCP makes of a bad network its ends see as delays and as resets. A loss is the time
	// until the message has been sent again often enough; it meets the link as it was when it
	// was sent first, and no connection is given up for it.
	handler[*nemesis.Loss]{
		Begin: func(w *World, f injection[*nemesis.Loss]) error {
			rule := nemesis.Rule{Delay: retransmission(f.Action, draws(w.seed, f.Stream()))}
			w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Impose(f.Number, rule) })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Loss]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Lift(f.Number) })
			return nil
		},
	},
	handler[*nemesis.Reset]{
		Begin: func(w *World, f injection[*nemesis.Reset]) error {
			w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Reset(true) })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Reset]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Reset(false) })
			return nil
		},
	},
	handler[*nemesis.Bandwidth]{
		Begin: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Narrow(f.Action.BytesPerSecond) })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *wire.Way) { l.Narrow(0) })
			return nil
		},
	},
	handler[*nemesis.GuardLatency]{
		Begin: func(w *World, f injection[*nemesis.GuardLatency]) error {
			rule := f.Action.Rule(draws(w.seed, f.Stream()))
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				w.resource.change(client, func(l world.Rules) world.Rules { return l.With(rule, f.Number, f.ForGood) })
			}
			return nil
		},
		End: func(w *World, f injection[*nemesis.GuardLatency]) error {
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				w.resource.change(client, func(l world.Rules) world.Rules { return l.Without(f.Number) })
			}
			return nil
		},
	},
}

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

// disturb does something bad to one way, or both, of every link of the selection.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Disturb(which, func(client, node int) { w.network.Link(client, node).Each(way, how) })
}

// mend takes it back.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Mend(which, func(client, node int) { w.network.Link(client, node).Each(way, how) })
}

// Duplicates is what can be done to a fleet of servers that take commands from anybody:
// the connections of copies do not say who they are, and are not encrypted.
func Duplicates() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Duplicate]{
			Begin: func(w *World, f injection[*nemesis.Duplicate]) error {
				table, draw := f.Action.After.Table(), draws(w.seed, f.Stream())
				w.copy(f.Action, func() time.Duration { return table.Draw(draw()) })
				return nil
			},
			End: func(w *World, f injection[*nemesis.Duplicate]) error {
				w.copy(f.Action, nil)
				return nil
			},
		},
	}
}

// copy says how much later the requests of a fault's links come once more. The links are up.
func (w *World) copy(d *nemesis.Duplicate, after func() time.Duration) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.Link(client, node).Each(nemesis.Requests, func(l *wire.Way) { l.Copy(after) })
		}
	}
}
