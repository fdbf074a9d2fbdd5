package runner

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Measured is a measurement of all runs of a tally, with its limit.
type Measured struct {
	scenarios.NamedLimit
	Unit  checker.Unit
	Value float64

	// Low and High are the 95 % interval. Interval is false if there is none: the measurement is
	// the most of all runs, which is a fact, or the runs are too few.
	Low, High float64
	Interval  bool
}

// Verdict compares the measurement with its limit: unknown if a bound lies within the interval.
func (m Measured) Verdict() checker.Verdict {
	low, high := m.Value, m.Value
	if m.Interval {
		low, high = m.Low, m.High
	}
	above := m.Max > 0 && m.Value > m.Max
	below := m.Value < m.Min
	switch {
	case above && low > m.Max, below && high < m.Min:
		return checker.Violated
	case above, below, m.Max > 0 && high > m.Max, low < m.Min:
		return checker.Unknown
	}
	return checker.Holds
}

// Limits returns the measurements for which the scenario states limits. Without a run there are
// none.
func (t Tally) Limits() (list []Measured) {
	if t.Measured.Runs() == 0 {
		return nil
	}
	all := t.Measured.All()
	for _, limit := range t.Scenario.Limits.List() {
		i := slices.IndexFunc(checker.NamedFigures(), func(f checker.NamedFigure) bool { return f.Name == limit.Name })
		f := checker.NamedFigures()[i]
		m := Measured{NamedLimit: limit, Unit: f.Unit, Value: f.Of(all)}
		m.Low, m.High, m.Interval = t.Measured.interval(f)
		list = append(list, m)
	}
	return list
}
