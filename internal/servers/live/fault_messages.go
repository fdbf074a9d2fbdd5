package live

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

var messageFaults = FaultHandlers{
	// One handler injects every kind that only affects messages between clients and
	// nodes, by its rule.
	handler[nemesis.Traffic]{
		Begin: func(w *World, f injection[nemesis.Traffic]) error {
			r := f.Action.Rule(Draws(w.seed, f.Stream()))
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.disturb(links, way, func(l *wire.Direction) { l.Impose(f.Number, r) })
			}
			return nil
		},
		End: func(w *World, f injection[nemesis.Traffic]) error {
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.mend(links, way, func(l *wire.Direction) { l.Lift(f.Number) })
			}
			return nil
		},
	},
	// TCP turns loss into delay: the time until a retransmission succeeds. The whole delay is
	// drawn when the message is sent, and no connection is reset.
	handler[*nemesis.Loss]{
		Begin: func(w *World, f injection[*nemesis.Loss]) error {
			rule := nemesis.Rule{Delay: retransmission(f.Action, Draws(w.seed, f.Stream()))}
			w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Direction) { l.Impose(f.Number, rule) })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Loss]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *wire.Direction) { l.Lift(f.Number) })
			return nil
		},
	},
	handler[*nemesis.Reset]{
		Begin: func(w *World, f injection[*nemesis.Reset]) error {
			if !f.Action.Once {
				w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Direction) { l.Reset(true) })
				return nil
			}
			w.strikes[f.Number] = world.NewStrikes(w.setting, f.Action.Links, f.Action.Way)
			w.links.Disturb(f.Action.Links, func(client, node int) {
				w.network.Link(client, node).Each(f.Action.Way, func(l *wire.Direction) {
					l.ResetNext(func() {
						w.tasks.start("end of a reset", func() { w.struck(f.Number, client, node) }, w.fail)
					})
				})
			})
			return nil
		},
		End: func(w *World, f injection[*nemesis.Reset]) error {
			over := []nemesis.Links{f.Action.Links}
			if f.Action.Once {
				over = w.strikes[f.Number].Pending()
				delete(w.strikes, f.Number)
			}
			for _, links := range over {
				w.mend(links, f.Action.Way, func(l *wire.Direction) { l.Reset(false) })
			}
			return nil
		},
	},
	handler[*nemesis.Bandwidth]{
		Begin: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.disturb(f.Action.Links, f.Action.Way, func(l *wire.Direction) { l.Narrow(f.Action.BytesPerSecond) })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *wire.Direction) { l.Narrow(0) })
			return nil
		},
	},
	handler[*nemesis.GuardLatency]{
		Begin: func(w *World, f injection[*nemesis.GuardLatency]) error {
			rule := f.Action.Rule(Draws(w.seed, f.Stream()))
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

// struck ends a fault that resets once on a link that it has struck, and as a whole after its last link.
// The message that was struck does not wait for this, because whoever holds the lock of the plan may
// wait for a message.
func (w *World) struck(fault, client, node int) {
	w.plan.mu.Lock()
	defer w.plan.mu.Unlock()
	strikes, active := w.strikes[fault]
	if !active {
		return // its planned end has come
	}
	link, all := strikes.Strike(client, node)
	mend := func() { w.links.Mend(world.OneLink(client, node), untouched) }
	switch {
	case all:
		delete(w.strikes, fault)
		w.plan.scheduler.Over(fault, mend)
	case link:
		w.injector.OnBehalf(fault, mend)
	}
}

// retransmission draws how much later a message arrives because of lost transmissions.
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

// Duplicates returns the handler for a fleet of servers without authentication and TLS:
// the connections that carry copies use neither.
func Duplicates() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Duplicate]{
			Begin: func(w *World, f injection[*nemesis.Duplicate]) error {
				table, draw := f.Action.After.Table(), Draws(w.seed, f.Stream())
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

// copy sends the requests of a fault's links once more, after a delay; nil ends that. The
// links stay up.
func (w *World) copy(d *nemesis.Duplicate, after func() time.Duration) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.Link(client, node).Each(nemesis.Requests, func(l *wire.Direction) { l.Copy(after) })
		}
	}
}

// latencyRule is the number of the rule for the setting's latency on a link. No fault of a
// plan has it.
const latencyRule = 0

// setLatencies gives messages the latency of the setting. Each link draws from its own
// stream; if several of the setting's links match, the last one counts. Accesses to the
// guarded resource are delayed on the way there only.
func (w *World) setLatencies() {
	w.setLatency(nemesis.Links{}, w.setting.Latency, nemesis.Both)
	for _, of := range w.setting.Links {
		w.setLatency(of.Links, of.Latency, of.Way)
	}
	guard := w.setting.Latency
	if w.setting.GuardLatency != nil {
		guard = *w.setting.GuardLatency
	}
	for client := 1; client <= w.setting.Clients; client++ {
		rule := (&nemesis.Latency{Add: guard}).Rule(Draws(w.seed, fmt.Sprintf("latency of client %d and the guard", client)))
		w.resource.change(client, func(l world.Rules) world.Rules { return l.With(rule, latencyRule, false) })
	}
}

// setLatency sets the latency of the selected links.
func (w *World) setLatency(which nemesis.Links, latency nemesis.Distribution, way nemesis.Direction) {
	for _, client := range nemesis.Each(which.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(which.Nodes, w.setting.Nodes) {
			draw := Draws(w.seed, fmt.Sprintf("latency of client %d and node %d", client, node))
			rule := (&nemesis.Latency{Add: latency}).Rule(draw)
			w.network.Link(client, node).Each(way, func(l *wire.Direction) {
				l.Lift(latencyRule)
				l.Impose(latencyRule, rule)
			})
		}
	}
}
