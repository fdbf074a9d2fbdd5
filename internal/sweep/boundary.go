package sweep

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// trials is at how many x a unit is run at most.
func (u unit) trials() int {
	b := u.boundary
	if b == nil {
		return 1
	}
	ends, formula := 2, 1
	return ends + u.halvings() + formula + len(b.Rules)
}

// halvings is how often a search is halved, or once less where that rounds so.
func (u unit) halvings() int {
	b := u.boundary
	return int(math.Ceil(max(0, math.Log2((b.High-b.Low)/b.Within))))
}

// locate looks for a boundary by halving: at every x the same seeds are run, so that what
// is found follows from them. Then it tries what the formula and the rules of thumb say.
func (c Campaign) locate(ctx context.Context, u unit) (Located, error) {
	b := u.boundary
	l := Located{Within: b.Within}
	if err := c.search(ctx, u, &l); err != nil {
		return l, err
	}
	c.step(c.Runs * max(0, 2+u.halvings()-len(l.Search)))
	var err error
	if l.Formula, err = c.try(ctx, u, b.Predicted); err != nil {
		return l, err
	}
	for _, name := range slices.Sorted(maps.Keys(b.Rules)) {
		t, err := c.try(ctx, u, b.Rules[name])
		if err != nil {
			return l, err
		}
		l.Rules = append(l.Rules, Rule{name, t})
	}
	return l, nil
}

// search tries both ends, and then halves what lies between. It ends early where
// something is left open: what cannot be told is neither side of a boundary.
func (c Campaign) search(ctx context.Context, u unit, l *Located) error {
	b := u.boundary
	for _, end := range []struct {
		x     float64
		below checker.Verdict // what it has to be for the search to go on
	}{{b.Low, checker.Violated}, {b.High, checker.Holds}} {
		v, err := c.look(ctx, u, l, end.x)
		if err != nil || v != end.below {
			return err
		}
	}
	for *l.FirstHolding-*l.LastViolated > b.Within {
		middle := *l.LastViolated + (*l.FirstHolding-*l.LastViolated)/2
		if middle == *l.LastViolated || middle == *l.FirstHolding { // there is no number between them
			return nil
		}
		v, err := c.look(ctx, u, l, middle)
		if err != nil || v != checker.Violated && v != checker.Holds {
			return err
		}
	}
	return nil
}

// look tries one x and notes which side of the boundary it is on.
func (c Campaign) look(ctx context.Context, u unit, l *Located, x float64) (checker.Verdict, error) {
	t, err := c.try(ctx, u, x)
	if err != nil {
		return 0, err
	}
	l.Search = append(l.Search, t)
	switch t.Verdict {
	case checker.Violated:
		l.LastViolated = &t.X
	case checker.Holds:
		l.FirstHolding = &t.X
	}
	return t.Verdict, nil
}

// try runs the scenario at x until a run violates the property, at most as often as it may.
func (c Campaign) try(ctx context.Context, u unit, x float64) (Trial, error) {
	property, t := c.Sweep.Property, Trial{X: x}
	b, err := c.batch(u, u.boundary.Scenario(x))
	if err != nil {
		return t, fmt.Errorf("at %v: %w", x, err)
	}
	looking, stop := context.WithCancel(ctx)
	defer stop()
	tally := runner.NewTally(b.Experiment.Scenario())
	found := func() bool { return tally.Seen[property][checker.Violated] > 0 }
	b.Each = func(r runner.Result) {
		if found() { // what was under way when it was
			return
		}
		tally.Add(r)
		c.step(1)
		if found() {
			stop()
		}
	}
	_, err = runner.RunBatches(looking, c.SideBySide, []runner.Batch{b})
	c.step(c.Runs - tally.Runs)
	switch {
	case found():
		t.Verdict, t.Witness = checker.Violated, witness(tally, property)
		t.Witness.Story = "" // of a dozen trials all tell the same
	case err != nil:
		return t, fmt.Errorf("at %v: %w", x, err)
	case tally.Interrupted || tally.Runs < c.Runs:
		return t, errStopped
	default:
		t.Verdict = tally.Observed(property)
	}
	return t, nil
}
