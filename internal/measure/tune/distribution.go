package tune

import (
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// quantile returns the duration that a share p of all does not exceed, as runs draw it.
func quantile(d nemesis.Distribution, p float64) time.Duration { return inTable(d.Table(), p) }

func inTable(t *nemesis.Table, p float64) time.Duration {
	if p >= 1 {
		return t.Draw(math.MaxUint64)
	}
	return t.Draw(uint64(p*(1<<53)) << 11)
}

// longest returns the maximum of a distribution.
func longest(d nemesis.Distribution) time.Duration { return quantile(d, 1) }

// above returns the share of durations above x. It uses the shape itself, because the tables
// that runs draw from are linear beyond one in a million.
func above(d nemesis.Distribution, x time.Duration) float64 {
	if x < 0 {
		return 1
	}
	if len(d.Samples) > 0 {
		return aboveSamples(d, x)
	}
	switch {
	case x < d.Min:
		return 1
	case x >= d.Max:
		return 0
	case d.LogNormal != nil:
		z := math.Log(float64(x)/float64(d.LogNormal.Median)) / d.LogNormal.Sigma
		return math.Erfc(z/math.Sqrt2) / 2
	case d.Pareto != nil:
		return min(1, math.Pow(float64(d.Pareto.Scale)/float64(x), d.Pareto.Alpha))
	}
	return float64(d.Max-x) / float64(d.Max-d.Min)
}

// aboveSamples is above for samples, which are sorted.
func aboveSamples(d nemesis.Distribution, x time.Duration) float64 {
	if d.Range != (nemesis.Range{}) && x >= d.Max {
		return 0
	}
	i, _ := slices.BinarySearch(d.Samples, x+1)
	return float64(len(d.Samples)-i) / float64(len(d.Samples))
}

// pausesAbove is above for the lengths of pauses. Samples do not show what lies beyond the
// longest: 3 in n at 95 %, up to the max if one is stated.
func pausesAbove(d nemesis.Distribution, x time.Duration) float64 {
	share := above(d, x)
	if n := len(d.Samples); n > 0 && (d.Range == (nemesis.Range{}) || x < d.Max) {
		share = max(share, min(1, 3/float64(n)))
	}
	return share
}

// mean returns the mean of strata.
func mean(of []stratum) (sum float64) {
	for _, s := range of {
		sum += s.share * float64(s.value)
	}
	return sum
}

// stratum is a share of a distribution, and the longest duration in it.
type stratum struct {
	share float64
	value time.Duration
}

// strataBody strata have equal shares. strataTail strata halve the rest again and again,
// so that a share of 10⁻¹¹ is still distinguished.
const (
	strataBody = 16
	strataTail = 33
)

// strata divides a distribution into shares, each represented by its longest duration.
func strata(d nemesis.Distribution) []stratum {
	if quantile(d, 0) == longest(d) {
		return []stratum{{1, longest(d)}}
	}
	var list []stratum
	at, table := 0.0, d.Table()
	cut := func(to float64) {
		list = append(list, stratum{to - at, inTable(table, to)})
		at = to
	}
	for i := 1; i < strataBody; i++ {
		cut(float64(i) / strataBody)
	}
	for left := 0.5 / strataBody; len(list) < strataBody+strataTail; left /= 2 {
		cut(1 - left)
	}
	cut(1)
	return list
}

// sorted returns a distribution with sorted samples.
func sorted(d nemesis.Distribution) nemesis.Distribution {
	if len(d.Samples) > 0 {
		d.Samples = slices.Sorted(slices.Values(d.Samples))
	}
	return d
}

// grid is the number of cells of a slack, and fine that of the parts of a cell. Values are
// rounded up to a part and then divided between the two neighbouring grid points.
const (
	grid = 256
	fine = 8
)

// masses are the probabilities of the grid points 0, …, grid. The rest to 1 lies beyond the
// slack.
type masses [grid + 1]float64

// discretise puts a distribution on the grid. above returns the share above a duration.
func discretise(slack time.Duration, above func(time.Duration) float64) (m masses) {
	m[0] = 1 - above(0)
	step := float64(slack) / (grid * fine)
	before := above(0)
	for i := 1; i <= grid*fine; i++ {
		after := above(time.Duration(step * float64(i)))
		cell, part := i/fine, float64(i%fine)/fine
		m[cell] += (before - after) * (1 - part)
		if part > 0 {
			m[cell+1] += (before - after) * part
		}
		before = after
	}
	return m
}

// plus returns the distribution of the sum.
func (m *masses) plus(o *masses) (sum masses) {
	for i, a := range m {
		if a == 0 {
			continue
		}
		for j, b := range o[:grid+1-i] {
			sum[i+j] += a * b
		}
	}
	return sum
}

// beyond returns the probability beyond the slack.
func (m *masses) beyond() float64 {
	sum := 0.0
	for _, p := range m {
		sum += p
	}
	return min(1, max(0, 1-sum))
}

// maxExpected bounds the expected count. Above it, the first number of Panjer's recursion
// would underflow.
const maxExpected = 32

// compound returns the distribution of the sum of a Poisson number of independent values.
func compound(expected float64, value *masses) (sum masses) {
	halvings := 0
	for ; expected > maxExpected; halvings++ {
		expected /= 2
	}
	sum[0] = math.Exp(expected * (value[0] - 1))
	for k := 1; k <= grid; k++ {
		for j := 1; j <= k; j++ {
			sum[k] += float64(j) * value[j] * sum[k-j]
		}
		sum[k] *= expected / float64(k)
	}
	for range halvings {
		sum = sum.plus(&sum)
	}
	return sum
}
