package simulated

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// drawerFunc is a function as a [sim.Drawer].
type drawerFunc func(w *sim.World, s sim.Stream, n int, own uint64) uint64

// Draw implements [sim.Drawer].
func (f drawerFunc) Draw(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
	return f(w, s, n, own)
}

func drawnBy(d sim.Drawer) runner.OpenFunc {
	return runner.Opener(func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*sim.World, error) {
		return sim.OpenDrawn(ctx, s, seed, sink, d)
	})
}

// listing opens worlds that report each message.
func listing(each func(m runner.Message, event int)) runner.OpenFunc {
	return drawnBy(drawerFunc(func(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
		if client, node, way, ok := w.Link(s); ok {
			each(runner.Message{Client: client, Node: node, Way: way, Nth: n + 1}, w.Events())
		}
		return own
	}))
}

// redrawing opens worlds in which the latency of one message is drawn anew.
func redrawing(m runner.Message, seed uint64) runner.OpenFunc {
	return drawnBy(drawerFunc(func(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
		client, node, way, ok := w.Link(s)
		if ok && m == (runner.Message{Client: client, Node: node, Way: way, Nth: n + 1}) {
			return nemesis.Mix(seed, uint64(s), uint64(n))
		}
		return own
	}))
}
