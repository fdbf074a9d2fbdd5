package simulated

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// branching opens worlds whose runs follow branches.
func branching(branches []runner.Branch) runner.OpenFunc {
	return runner.Opener(func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*sim.World, error) {
		return sim.OpenDrawn(ctx, s, seed, sink, &brancher{rest: branches, drawn: map[sim.Stream]int{}})
	})
}

// brancher is the drawer of a run with branches.
type brancher struct {
	rest  []runner.Branch // not reached yet
	now   runner.Branch   // the last that was reached
	fresh bool            // one was reached

	drawn map[sim.Stream]int // the numbers of each stream that were drawn
	first map[sim.Stream]int // of each stream, the first number of the branch; others: 0
}

// Draw implements [sim.Drawer]. A clone may draw a number that its original drew before the branch.
// So a number is new only if nobody has drawn it before.
func (b *brancher) Draw(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
	for len(b.rest) > 0 && w.Events() >= b.rest[0].Event {
		b.now, b.rest, b.fresh = b.rest[0], b.rest[1:], true
		b.first = make(map[sim.Stream]int, len(b.drawn))
		for s, drawn := range b.drawn {
			b.first[s] = drawn
		}
	}
	b.drawn[s] = max(b.drawn[s], n+1)
	if !b.fresh || n < b.first[s] {
		return own
	}
	return nemesis.Mix(b.now.Seed, uint64(s), uint64(n))
}
