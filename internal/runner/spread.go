package runner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Spread is what an [Aggregate] has besides its measurements: what the medians and the intervals
// of more runs are computed from. It can be stored.
type Spread struct {
	// Samples has, for each measurement that is a median and has values, the values in ascending
	// order: for each its difference from the one before (the first: from 0), and then, if more
	// than one run has it, minus their number.
	Samples map[string][]int64 `json:"samples,omitempty"`

	// Squares is of the measurements that are shares, unless all of it is 0.
	Squares map[string]Squares `json:"squares,omitempty"`
}

// Spread returns the spread of all runs.
func (a *Aggregate) Spread() Spread {
	s := Spread{map[string][]int64{}, map[string]Squares{}}
	for i, list := range a.medians {
		if list.len() > 0 {
			s.Samples[medianFigures[i].name] = list.stored()
		}
	}
	for i, squares := range a.squares {
		if squares != (Squares{}) {
			s.Squares[shares[i].name] = squares
		}
	}
	return s
}

// RestoredAggregate returns the aggregate of some runs with these measurements and this spread.
// Runs can be added to it. It returns an error if no runs have both.
func RestoredAggregate(runs int, all checker.Measurements, s Spread) (Aggregate, error) {
	a := Aggregate{runs: runs}
	a.begin()
	to, from := reflect.ValueOf(&a.all).Elem(), reflect.ValueOf(&all).Elem()
	for _, j := range summedFigures {
		value := from.FieldByIndex(j.of).Int()
		if value < 0 || value > 0 && runs == 0 {
			return a, fmt.Errorf("%s is %d in %d runs", j.name, value, runs)
		}
		j.add(to, value)
	}
	if err := a.restoreMedians(s.Samples); err != nil {
		return a, err
	}
	if err := a.restoreSquares(s.Squares); err != nil {
		return a, err
	}
	if got := a.All(); got != all {
		return a, fmt.Errorf("the measurements are not those of their samples: %s", difference(got, all))
	}
	return a, nil
}

func (a *Aggregate) restoreMedians(stored map[string][]int64) error {
	known := 0
	for i, j := range medianFigures {
		list, is := stored[j.name]
		if is {
			known++
		}
		least := int64(0)
		if j.how == medianOfSome {
			least = 1
		}
		var err error
		if a.medians[i], err = restored(list, least, a.runs); err != nil {
			return fmt.Errorf("samples of %s: %w", j.name, err)
		}
		if n := a.medians[i].len(); j.how == median && n != a.runs {
			return fmt.Errorf("samples of %s: %d values of %d runs", j.name, n, a.runs)
		}
	}
	if known < len(stored) {
		return fmt.Errorf("samples of an unknown measurement among %q", slices.Sorted(maps.Keys(stored)))
	}
	return nil
}

func (a *Aggregate) restoreSquares(stored map[string]Squares) error {
	known := 0
	for i, share := range shares {
		if squares, is := stored[share.name]; is {
			a.squares[i] = squares
			known++
		}
	}
	if known < len(stored) {
		return fmt.Errorf("squares of an unknown measurement among %q", slices.Sorted(maps.Keys(stored)))
	}
	return nil
}

// difference names the first measurement in which two differ.
func difference(a, b checker.Measurements) string {
	for _, f := range checker.NamedFigures() {
		if x, y := f.Of(a), f.Of(b); x != y {
			return fmt.Sprintf("%s is %v, and not %v", f.Name, y, x)
		}
	}
	return "a measurement differs"
}
