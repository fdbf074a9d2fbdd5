package sim

import (
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

var messageFaults = handlers{
	// One handler injects every kind that only affects messages between clients and
	// nodes, by its rule.
	handler[nemesis.Traffic]{
		Begin: func(w *World, f injection[nemesis.Traffic]) error {
			r := f.Action.Rule(nemesis.Stream(w.seed, f.Stream()).Uint64)
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.disturb(links, way, func(l *linkDirection) { l.rules = l.rules.With(r, f.Number, f.ForGood) })
			}
			return nil
		},
		End: func(w *World, f injection[nemesis.Traffic]) error {
			over, way := f.Action.Over(w.setting)
			for _, links := range over {
				w.mend(links, way, func(l *linkDirection) { w.lift(l, f.Number) })
			}
			return nil
		},
	},
	handler[*nemesis.Duplicate]{
		Begin: func(w *World, f injection[*nemesis.Duplicate]) error {
			on := &copier{after: f.Action.After.Table(), random: nemesis.Stream(w.seed, f.Stream())}
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
			r := f.Action.Rule(nemesis.Stream(w.seed, f.Stream()).Uint64)
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
			w.disturb(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.narrow = &bandwidth{perSecond: f.Action.BytesPerSecond} })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Bandwidth]) error {
			w.mend(f.Action.Links, f.Action.Way, w.widen)
			return nil
		},
	},
}

// copier duplicates the requests that arrive over a link direction.
type copier struct {
	after  *nemesis.Table
	random *rand.PCG // the fault's own
}

// onCopies sets the copier of a fault's links; nil ends the copying.
func (w *World) onCopies(d *nemesis.Duplicate, how *copier) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.link(client, node).requests.copies = how
		}
	}
}

// comeToNode delivers request i to its node. A proxy in front of the node may send it
// once more.
func (w *World) comeToNode(i int32) {
	m := w.network.messages.at(i)
	if how := w.network.link(int(m.client), int(m.node)).requests.copies; how != nil && !m.reset {
		second := w.network.messages.put(message{round: m.round, sent: m.sent, client: m.client, node: m.node, whole: m.whole, copy: true})
		w.queue.push(w.now+int64(how.after.Draw(how.random.Uint64())), requestArrives, second)
	}
	w.atNode(i)
}

// bandwidth limits one link direction. Its messages leave one after another.
type bandwidth struct {
	perSecond int64    // bytes
	line      []queued // the first is leaving
}

// queued is a message that waits to leave, and the event of its arrival.
type queued struct {
	message int32
	arrival class
}

// takes returns how long a message of so many bytes takes to leave, rounded up.
func (b *bandwidth) takes(bytes int64) int64 {
	high, low := bits.Mul64(uint64(bytes), uint64(time.Second))
	low, carry := bits.Add64(low, uint64(b.perSecond)-1, 0)
	takes, _ := bits.Div64(high+carry, low, uint64(b.perSecond))
	return int64(takes)
}

// queueUp appends a message to those that wait to leave in a direction.
func (w *World) queueUp(i int32, l *linkDirection, arrival class) {
	b := l.narrow
	b.line = append(b.line, queued{i, arrival})
	if len(b.line) == 1 {
		w.squeeze(l, b)
	}
}

// squeeze schedules when the first waiting message leaves, unless the limit is
// lifted before.
func (w *World) squeeze(l *linkDirection, b *bandwidth) {
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

// widen lifts the limit of a direction. Waiting messages leave at once.
func (w *World) widen(l *linkDirection) {
	line := l.narrow.line
	l.narrow = nil
	for _, q := range line {
		w.leave(q.message, l, q.arrival)
	}
}
