package simulated

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// branching opens worlds whose runs take a course.
func branching(course runner.Course) runner.OpenFunc { return hooked(course, runner.Hooks{}) }

// hooked opens worlds whose runs take a course but for what hooks change.
func hooked(course runner.Course, hooks runner.Hooks) runner.OpenFunc {
	return runner.Opener(func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (*sim.World, error) {
		if c := course.Choices; c != nil {
			return sim.OpenBranching(ctx, s, seed, sink, sim.Choices{
				Chooser:   &follower{turns: c.Turns, branches: course.Branches, hooks: hooks},
				Latencies: c.Latencies, Draws: c.Draws, EveryOrder: c.EveryOrder,
			})
		}
		return sim.OpenDrawn(ctx, s, seed, sink, &brancher{rest: course.Branches, drawn: map[sim.Stream]int{}, hooks: hooks})
	})
}

// follower is the chooser of a run with choices. From a branch on it draws them.
type follower struct {
	hooks    runner.Hooks
	turns    []runner.Turn   // not reached yet
	branches []runner.Branch // not reached yet
	now      runner.Branch   // the last that was reached
	drawing  bool            // one was reached
	point    int             // the next
}

// Choose implements [sim.Chooser].
func (f *follower) Choose(w *sim.World, at sim.Point, ways int) int {
	turn := runner.Turn{Point: f.point, Way: f.way(ways)}
	f.point++
	if f.hooks.Message != nil && at.Kind == sim.Latency && at.Node > 0 {
		if seed, redraw := f.hooks.Message(messageAt(at), w.Events()); redraw {
			turn.Way = drawnWay(seed, turn.Point, ways)
		}
	}
	if f.hooks.Deviation != nil && turn.Way > 0 {
		f.hooks.Deviation(deviation(turn, w, at, ways))
	}
	return turn.Way
}

// way returns the way that the course takes at the next point.
func (f *follower) way(ways int) int {
	switch {
	case f.drawing:
		return drawnWay(f.now.Seed, f.point, ways)
	case len(f.turns) == 0 || f.turns[0].Point != f.point:
		return 0
	}
	way := min(f.turns[0].Way, ways-1)
	f.turns = f.turns[1:]
	return way
}

func drawnWay(seed uint64, point, ways int) int {
	return int(nemesis.Mix(seed, uint64(point)) % uint64(ways))
}

func messageAt(p sim.Point) runner.Message {
	return runner.Message{Client: p.Client, Node: p.Node, Way: p.Way, Nth: p.Number}
}

var choiceKinds = map[sim.PointKind]runner.ChoiceKind{
	sim.Latency: runner.ChosenLatency, sim.Draw: runner.ChosenNumber, sim.Order: runner.ChosenOrder,
	sim.Kept: runner.ChosenChanges,
}

func deviation(turn runner.Turn, w *sim.World, at sim.Point, ways int) runner.Deviation {
	d := runner.Deviation{Turn: turn, Kind: choiceKinds[at.Kind], Ways: ways, At: w.Ground()}
	switch at.Kind {
	case sim.Latency:
		d.Message = messageAt(at)
	case sim.Draw:
		d.Client, d.Source, d.Number = at.Client, at.Source, at.Number
	case sim.Kept:
		d.Node = at.Node
	case sim.Order:
		d.First = w.Due(turn.Way)
	}
	return d
}

// GoOn implements [sim.Chooser].
func (f *follower) GoOn(w *sim.World) bool {
	for len(f.branches) > 0 && w.Events() >= f.branches[0].Event {
		f.now, f.branches, f.drawing = f.branches[0], f.branches[1:], true
	}
	return true
}

// brancher is the drawer of a run with branches.
type brancher struct {
	hooks runner.Hooks
	rest  []runner.Branch // not reached yet
	now   runner.Branch   // the last that was reached
	fresh bool            // one was reached

	drawn map[sim.Stream]int // the numbers of each stream that were drawn
	first map[sim.Stream]int // of each stream, the first number of the branch; others: 0
}

// Draw implements [sim.Drawer].
func (b *brancher) Draw(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
	own = b.draw(w, s, n, own)
	if b.hooks.Message == nil {
		return own
	}
	if client, node, way, ok := w.Link(s); ok {
		if seed, redraw := b.hooks.Message(runner.Message{Client: client, Node: node, Way: way, Nth: n + 1}, w.Events()); redraw {
			return nemesis.Mix(seed, uint64(s), uint64(n))
		}
	}
	return own
}

// draw returns the number of the course. A clone may draw a number that its original drew before the
// branch. So a number is new only if nobody has drawn it before.
func (b *brancher) draw(w *sim.World, s sim.Stream, n int, own uint64) uint64 {
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
