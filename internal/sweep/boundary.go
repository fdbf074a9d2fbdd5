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

// trials returns at how many x a unit is run at most.
func (u unit) trials() int {
	b := u.boundary
	if b == nil {
		return 1
	}
	ends, formula := 2, 1
	return ends + u.halvings() + formula + len(b.Rules)
}

// halvings returns how often the search interval is halved. Rounding may save one.
func (u unit) halvings() int {
	b := u.boundary
	return int(math.Ceil(max(0, math.Log2((b.High-b.Low)/b.Within))))
}

// findBoundary searches a boundary. The same seeds are run at every x, so that the result is
// determined by them.
func (m Measurement) findBoundary(ctx context.Context, u unit) (Located, error) {
	l, err := u.boundary.find(func(x float64) (Trial, error) { return m.try(ctx, u, x) })
	if err == nil {
		m.step(m.Runs * max(0, 2+u.halvings()-len(l.Search)))
	}
	return l, err
}

// find searches the boundary by bisection, and then tries the x of the formula and of the rules of
// thumb.
func (b *Boundary) find(try func(x float64) (Trial, error)) (Located, error) {
	l := Located{Within: b.Within}
	if err := b.search(&l, try); err != nil {
		return l, err
	}
	var err error
	if l.Formula, err = try(b.Predicted); err != nil {
		return l, err
	}
	for _, name := range slices.Sorted(maps.Keys(b.Rules)) {
		t, err := try(b.Rules[name])
		if err != nil {
			return l, err
		}
		l.Rules = append(l.Rules, Rule{name, t})
	}
	return l, nil
}

// search tries both ends and then bisects. It stops early if a verdict is unknown, since that
// is neither side of the boundary.
func (b *Boundary) search(l *Located, try func(x float64) (Trial, error)) error {
	for _, end := range []struct {
		x    float64
		want checker.Verdict // otherwise the search ends
	}{{b.Low, checker.Violated}, {b.High, checker.Holds}} {
		v, err := l.probe(end.x, try)
		if err != nil || v != end.want {
			return err
		}
	}
	for *l.FirstHolding-*l.LastViolated > b.Within {
		middle := *l.LastViolated + (*l.FirstHolding-*l.LastViolated)/2
		if middle == *l.LastViolated || middle == *l.FirstHolding { // no number in between
			return nil
		}
		v, err := l.probe(middle, try)
		if err != nil || v != checker.Violated && v != checker.Holds {
			return err
		}
	}
	return nil
}

// probe tries one x and records on which side of the boundary it lies.
func (l *Located) probe(x float64, try func(x float64) (Trial, error)) (checker.Verdict, error) {
	t, err := try(x)
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

// try runs the scenario at x until a run violates the property, or all runs are made.
func (m Measurement) try(ctx context.Context, u unit, x float64) (Trial, error) {
	property, t := m.Sweep.Property, Trial{X: x}
	b, err := m.batch(u, u.boundary.Scenario(x))
	if err != nil {
		return t, fmt.Errorf("at %v: %w", x, err)
	}
	looking, stop := context.WithCancel(ctx)
	defer stop()
	tally := runner.NewTally(b.Experiment.Scenario())
	found := func() bool { return tally.Seen[property][checker.Violated] > 0 }
	b.Each = func(r runner.Result) {
		if found() { // this run was already in progress
			return
		}
		tally.Add(r)
		m.step(1)
		if found() {
			stop()
		}
	}
	_, err = runner.RunBatches(looking, m.SideBySide, []runner.Batch{b})
	m.step(m.Runs - tally.Runs)
	switch {
	case found():
		t.Verdict, t.Witness = checker.Violated, witness(tally, property)
		t.Witness.Story = "" // a dozen trials would repeat it
	case err != nil:
		return t, fmt.Errorf("at %v: %w", x, err)
	case tally.Interrupted || tally.Runs < m.Runs:
		return t, errStopped
	default:
		t.Verdict = tally.Observed(property)
	}
	return t, nil
}
