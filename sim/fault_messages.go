package sim

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

var messageFaults = handlers{
	// carrying carries out every fault that does nothing but to messages between
	// clients and nodes, by the rule that it has for them.
	handler[nemesis.Traffic]{
		Begin: func(w *World, f injection[nemesis.Traffic]) error {
			r := f.Action.Rule(stream(w.seed, f.Stream()).Uint64)
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.disturb(links, way, func(l *lane) { l.rules = l.rules.With(r, f.Number, f.ForGood) })
			}
			return nil
		},
		End: func(w *World, f injection[nemesis.Traffic]) error {
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.mend(links, way, func(l *lane) { w.lift(l, f.Number) })
			}
			return nil
		},
	},
	handler[*nemesis.Duplicate]{
		Begin: func(w *World, f injection[*nemesis.Duplicate]) error {
			on := &copying{after: f.Action.After.Table(), random: stream(w.seed, f.Stream())}
			w.onCopies(f.Action, on)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Duplicate]) error {
			w.onCopies(f.Action, nil)
			return nil
		},
	},
	handler[*nemesis.GuardLatency]{
		Begin: func(w *World, f injection[*nemesis.GuardLatency]) error {
			r := f.Action.Rule(stream(w.seed, f.Stream()).Uint64)
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				l := &w.network.toGuard[client-1]
				l.rules = l.rules.With(r, f.Number, f.ForGood)
			}
			return nil
		},
		End: func(w *World, f injection[*nemesis.GuardLatency]) error {
			for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
				l := &w.network.toGuard[client-1]
				l.rules = l.rules.Without(f.Number)
			}
			return nil
		},
	},
	handler[*nemesis.Bandwidth]{
		Begin: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.disturb(f.Action.Links, f.Action.Way, func(l *lane) { l.narrow = &bandwidth{perSecond: f.Action.BytesPerSecond} })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.mend(f.Action.Links, f.Action.Way, w.widen)
			return nil
		},
	},
}

// copying is what a fault does to the requests that have come over a lane.
type copying struct {
	after  *nemesis.Table
	random *rand.PCG // the fault's own
}

// onCopies says what makes copies of the requests of a fault's links.
func (w *World) onCopies(d *nemesis.Duplicate, how *copying) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.link(client, node).requests.copies = how
		}
	}
}

// comeToNode is what becomes of request i when it has come to its node: a proxy there may
// send it once more.
func (w *World) comeToNode(i int32) {
	m := w.network.messages.at(i)
	if how := w.network.link(int(m.client), int(m.node)).requests.copies; how != nil && !m.reset {
		second := w.network.messages.put(message{round: m.round, sent: m.sent, client: m.client, node: m.node, whole: m.whole, copy: true})
		w.queue.push(w.now+int64(how.after.Draw(how.random.Uint64())), requestArrives, second)
	}
	w.atNode(i)
}

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
