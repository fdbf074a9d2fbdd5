package runner

import (
	"math"
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

// interval returns the 95 % interval of a measurement: of a share, which is a ratio of sums, or of a
// median.
func (a *Aggregate) interval(f checker.NamedFigure) (low, high float64, known bool) {
	if share, is := a.shares[f.Name]; is {
		return share.interval()
	}
	for place, list := range a.samples {
		if slices.Equal(aggregations[place].of, f.Index) {
			return medianInterval(list)
		}
	}
	return 0, 0, false
}

// Share returns a measurement that is a share, such as availability, and its 95 % interval if the
// runs are enough for one.
func (a *Aggregate) Share(name string) (value, low, high float64, known bool) {
	share := a.shares[name]
	if share.whole > 0 {
		value = share.part / share.whole
	}
	low, high, known = share.interval()
	return value, low, high, known
}

// medianInterval returns the distribution-free 95 % interval of the median: the order statistics
// between which it lies with that probability, by the binomial distribution (David and Nagaraja,
// Order Statistics, 2003, section 7.1). Less than six values have none.
func medianInterval(list []int64) (low, high float64, known bool) {
	rank := medianRank(len(list))
	if rank == 0 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[rank-1]), float64(sorted[len(sorted)-rank]), true
}

// medianRank returns the rank of the lower end of the interval among n values; 0: there is none.
func medianRank(n int) (rank int) {
	if n > 1000 { // 2^-n vanishes, and the normal distribution is close enough
		return int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
	}
	for tail, term := 0.0, math.Pow(0.5, float64(n)); rank < n/2; rank++ {
		if tail += term; tail > 0.025 {
			break
		}
		term *= float64(n-rank) / float64(rank+1)
	}
	return rank
}

// ratio sums pairs of a part and a whole, one of each run.
type ratio struct {
	n                                   int
	part, whole, parts2, wholes2, mixed float64
}

func (r *ratio) add(part, whole float64) {
	r.n++
	r.part, r.whole = r.part+part, r.whole+whole
	r.parts2, r.wholes2, r.mixed = r.parts2+part*part, r.wholes2+whole*whole, r.mixed+part*whole
}

// interval returns the 95 % interval of the sum of the parts over that of the wholes, by
// linearization (Cochran, Sampling Techniques, 1977, section 6.4). Less than six pairs have none.
func (r ratio) interval() (low, high float64, known bool) {
	if r.n < 6 || r.whole == 0 {
		return 0, 0, false
	}
	n, share := float64(r.n), r.part/r.whole
	squares := r.parts2 - 2*share*r.mixed + share*share*r.wholes2
	half := z * math.Sqrt(max(squares, 0)*n/(n-1)) / r.whole
	return max(share-half, 0), min(share+half, 1), true
}
