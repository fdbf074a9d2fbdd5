package nemesis

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Distribution is the distribution of a duration: within a range, uniformly unless a
// shape is given: log_normal, pareto or samples, at most one. Values outside the range are moved to
// its end. Samples without a range have the range of the samples; the other shapes need a max.
type Distribution struct {
	Range `yaml:",inline"`

	LogNormal *LogNormal `yaml:"log_normal,omitempty"`
	Pareto    *Pareto    `yaml:"pareto,omitempty"`

	// Samples is the empirical shape: any of these durations, and values between two neighbours.
	Samples []time.Duration `yaml:"samples,flow,omitempty" want:"0s.."`

	// SamplesFrom is a file with samples, relative to the directory of this one:
	// one duration per line; text after a # is ignored. It is read
	// once; a stored run contains the samples.
	SamplesFrom string `yaml:"samples_from,omitempty"`

	table *Table // in a copy that is not written to any more: see [Setting.Ready]
}

// LogNormal is the shape of a duration whose logarithm is normal: most network
// delays in quiet times.
type LogNormal struct {
	Median time.Duration `yaml:"median" want:">0s.."` // half take longer
	Sigma  float64       `yaml:"sigma" want:">0..10"` // standard deviation of the logarithm; 0.5 puts one in forty above 2.7 medians
}

// Pareto is a shape with a heavy tail: a share of (scale/d)^alpha takes longer
// than d.
type Pareto struct {
	Scale time.Duration `yaml:"scale" want:">0s.."`   // the shortest
	Alpha float64       `yaml:"alpha" want:">0..100"` // how fast the tail falls; the mean is infinite up to 1
}

func (d Distribution) String() string {
	switch {
	case d.LogNormal != nil:
		return fmt.Sprintf("%v (log-normal, median %v, sigma %v)", d.Range, d.LogNormal.Median, d.LogNormal.Sigma)
	case d.Pareto != nil:
		return fmt.Sprintf("%v (Pareto, from %v, alpha %v)", d.Range, d.Pareto.Scale, d.Pareto.Alpha)
	case len(d.Samples) > 0:
		return fmt.Sprintf("%v (as in %d samples)", d.Range, len(d.Samples))
	}
	return d.Range.String()
}

// Consistent returns an error unless the samples have been read, there is one shape at most, and it
// knows its longest duration.
func (d Distribution) Consistent() error {
	if d.SamplesFrom != "" {
		return field("samples_from", fmt.Errorf("the samples of %s have not been read: that is done where a scenario is read from a file", d.SamplesFrom))
	}
	shapes := 0
	for _, has := range []bool{d.LogNormal != nil, d.Pareto != nil, len(d.Samples) > 0} {
		if has {
			shapes++
		}
	}
	switch {
	case shapes > 1:
		return field("max", errors.New("a distribution has one shape at most"))
	case d.Max == 0 && (d.LogNormal != nil || d.Pareto != nil):
		return field("max", errors.New("missing: this shape has no longest duration of its own"))
	}
	return nil
}

// quantile returns the duration that a share p of all is below, in
// nanoseconds, before it is brought into the range.
func (d Distribution) quantile(p float64) float64 {
	switch {
	case d.LogNormal != nil:
		return float64(d.LogNormal.Median) * math.Exp(d.LogNormal.Sigma*math.Sqrt2*math.Erfinv(2*p-1))
	case d.Pareto != nil:
		return float64(d.Pareto.Scale) * math.Pow(1-p, -1/d.Pareto.Alpha)
	}
	return empirical(d.Samples, p)
}

// empirical is the quantile of sorted samples, linear between neighbours.
func empirical(sorted []time.Duration, p float64) float64 {
	place := p * float64(len(sorted)-1)
	i := min(int(place), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return float64(sorted[i]) + (place-float64(i))*float64(sorted[next]-sorted[i])
}

// cells is the number of cells of a table, a power of two.
const (
	cellBits = 10
	cells    = 1 << cellBits
)

// Table is a distribution made ready for drawing from integers alone, so that
// no difference of floating point between machines gets into a run that has
// its table. Quantiles are exact at the borders of 1,024 cells of equal share
// and linear between; the last cell, the tail, is cut into 1,024 once more.
type Table struct {
	uniform    Range // of a distribution that has no shape, and so needs no cells
	body, tail []int64
}

// Table returns the distribution's table. To make one takes about as long as a small
// world needs for everything else.
func (d Distribution) Table() *Table {
	if d.table != nil {
		return d.table
	}
	if len(d.Samples) > 0 {
		d.Samples = slices.Sorted(slices.Values(d.Samples))
		if d.Range == (Range{}) {
			d.Range = Range{d.Samples[0], d.Samples[len(d.Samples)-1]}
		}
	}
	if d.LogNormal == nil && d.Pareto == nil && len(d.Samples) == 0 {
		return &Table{uniform: d.Range}
	}
	t := &Table{body: make([]int64, cells+1), tail: make([]int64, cells+1)}
	for i := range cells + 1 {
		t.body[i] = d.clip(d.quantile(float64(i) / cells))
		t.tail[i] = d.clip(d.quantile((cells - 1 + float64(i)/cells) / cells))
	}
	return t
}

func (d Distribution) clip(ns float64) int64 {
	switch {
	case ns >= float64(d.Max): // infinity as well
		return int64(d.Max)
	case ns <= float64(d.Min):
		return int64(d.Min)
	}
	return int64(ns)
}

// Draw maps 64 random bits to a duration.
func (t *Table) Draw(random uint64) time.Duration {
	if t.body == nil {
		return t.uniform.Draw(random)
	}
	quantiles := t.body
	cell := random >> (64 - cellBits)
	random <<= cellBits
	if cell == cells-1 {
		quantiles = t.tail
		cell = random >> (64 - cellBits)
		random <<= cellBits
	}
	low, high := quantiles[cell], quantiles[cell+1]
	return time.Duration(low + scaled(high-low, random))
}

// Range returns the shortest and the longest duration that can be drawn.
func (t *Table) Range() Range {
	if len(t.body) == 0 {
		return t.uniform
	}
	return Range{Min: time.Duration(t.body[0]), Max: time.Duration(t.tail[len(t.tail)-1])}
}

// scaled maps random bits to 0, …, width.
func scaled(width int64, random uint64) int64 {
	share, _ := bits.Mul64(uint64(width)+1, random)
	return int64(share)
}

// Range is a uniform distribution of durations, both ends included.
type Range struct {
	Min time.Duration `yaml:"min" want:"0s.."` // the shortest
	Max time.Duration `yaml:"max" want:"0s.."` // the longest; not below min
}

func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return fmt.Sprintf("%v to %v", r.Min, r.Max)
}

// Draw maps 64 random bits to a duration of the range.
func (r Range) Draw(random uint64) time.Duration {
	return r.Min + time.Duration(scaled(int64(r.Max-r.Min), random))
}

// Consistent returns an error for a longest duration below the shortest.
func (r Range) Consistent() error {
	if r.Max < r.Min {
		return field("max", fmt.Errorf("%v is below min, %v", r.Max, r.Min))
	}
	return nil
}
