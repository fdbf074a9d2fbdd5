package sweep

import (
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// find searches the boundary by bisection, and then tries the x of the formula and of the rules of
// thumb. The same seeds are run at every x, so that the result is determined by them.
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
