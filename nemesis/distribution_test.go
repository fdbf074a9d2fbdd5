package nemesis

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/form"
)

const ms = time.Millisecond

// possible returns the error of a distribution in a setting.
func possible(d Distribution) error {
	return form.Check(&d)
}

// Law: drawn values lie in the range.
func TestDrawsStayInTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDistribution(t)
		if err := possible(d); err != nil {
			t.Fatal(err)
		}
		table := d.Table()
		bits := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, math.MaxUint64, math.MaxUint64 - 1})).Draw(t, "bits")
		if got := table.Draw(bits); got < d.Min || got > d.Max {
			t.Fatalf("drew %v from %v", got, d)
		}
	})
}

// Law: a range draws its whole width, both ends included.
func TestARangeDrawsBothItsEnds(t *testing.T) {
	for _, r := range []Range{{}, {ms, ms}, {ms, 2 * ms}, {0, math.MaxInt64}} {
		if low, high := r.Draw(0), r.Draw(math.MaxUint64); low != r.Min || high != r.Max {
			t.Errorf("drew %v to %v from %v", low, high, r)
		}
	}
}

func drawDistribution(t *rapid.T) Distribution {
	lo := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "min"))
	d := Distribution{Range: Range{lo, lo + time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "width"))}}
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 1:
		d.LogNormal = &LogNormal{time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "median")), rapid.Float64Range(0.01, 10).Draw(t, "sigma")}
	case 2:
		d.Pareto = &Pareto{time.Duration(rapid.Int64Range(1, 1e10).Draw(t, "scale")), rapid.Float64Range(0.01, 100).Draw(t, "alpha")}
	case 3:
		for _, v := range rapid.SliceOfN(rapid.Int64Range(0, 1e10), 1, 20).Draw(t, "samples") {
			d.Samples = append(d.Samples, time.Duration(v))
		}
	}
	return d
}

// The share of draws below a duration is what the distribution says, up to
// chance: with n draws five standard deviations are 2.5/√n.
func TestDrawsFollowTheDistribution(t *testing.T) {
	wide := Range{0, time.Hour}
	cases := map[string]struct {
		d     Distribution
		share func(d float64) float64 // of those below d
	}{
		"uniform":    {Distribution{Range: Range{ms, 5 * ms}}, func(d float64) float64 { return (d - float64(ms)) / float64(4*ms) }},
		"log-normal": {Distribution{Range: wide, LogNormal: &LogNormal{ms, 0.8}}, func(d float64) float64 { return 0.5 + 0.5*math.Erf(math.Log(d/float64(ms))/0.8/math.Sqrt2) }},
		"pareto":     {Distribution{Range: wide, Pareto: &Pareto{ms, 1.5}}, func(d float64) float64 { return 1 - math.Pow(float64(ms)/d, 1.5) }},
		"samples":    {Distribution{Samples: []time.Duration{4 * ms, 2 * ms, 3 * ms}}, func(d float64) float64 { return (d - float64(2*ms)) / float64(2*ms) }},
	}
	const n = 200_000
	for name, c := range cases {
		table, random := c.d.Table(), rand.NewPCG(1, 2)
		drawn := make([]time.Duration, n)
		for i := range drawn {
			drawn[i] = table.Draw(random.Uint64())
		}
		slices.Sort(drawn)
		for _, p := range []float64{0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999} {
			got := c.share(float64(drawn[int(p*n)]))
			if off := math.Abs(got - p); off > 5*math.Sqrt(p*(1-p)/n)+2.0/n {
				t.Errorf("%s: at %v of the draws the distribution is at %v", name, p, got)
			}
		}
	}
}

func TestImpossibleDistributions(t *testing.T) {
	r := Range{0, time.Second}
	cases := map[string]Distribution{
		"min: -1ms is negative":        {Range: Range{-ms, ms}},
		"log_normal.median: 0s":        {Range: r, LogNormal: &LogNormal{0, 1}},
		"log_normal.sigma: NaN":        {Range: r, LogNormal: &LogNormal{ms, math.NaN()}},
		"pareto.alpha: 0":              {Range: r, Pareto: &Pareto{ms, 0}},
		"pareto.scale: -1ms":           {Range: r, Pareto: &Pareto{-ms, 1}},
		"max: missing":                 {Pareto: &Pareto{ms, 1}},
		"samples[1]: -1ms is negative": {Range: r, Samples: []time.Duration{0, -ms}},
		"max: a distribution has one":  {Range: r, Pareto: &Pareto{ms, 1}, LogNormal: &LogNormal{ms, 1}},
	}
	for want, d := range cases {
		if err := possible(d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A setting that is made ready has the tables of its distributions, wherever they
// stand, draws as before, and leaves the one that it was made of as it was.
func TestReady(t *testing.T) {
	shaped := func() Distribution {
		return Distribution{Range: Range{0, time.Second}, LogNormal: &LogNormal{ms, 0.5}}
	}
	sync := shaped()
	setting := func() Setting {
		return Setting{
			Latency: shaped(), Sync: &sync, Store: &Store{Election: shaped(), Commit: shaped()},
			Links: []LinkLatency{{Links: Links{Nodes: []int{1}}, Latency: shaped()}},
			Plan:  Plan{{Action: &Crash{Node: 1}}, {Action: &Latency{Add: shaped()}}, {Action: &GuardLatency{Add: shaped()}, End: After(ms)}},
		}
	}
	s := setting()
	ready := s.Ready()
	if !reflect.DeepEqual(s, setting()) {
		t.Errorf("now %+v", s)
	}
	fresh, found := shaped().Table(), 0
	_ = ready.EachDistribution(func(d *Distribution) error {
		if found++; d.table == nil || d.Table() != d.table || !reflect.DeepEqual(d.table, fresh) {
			t.Errorf("distribution %d has no table, or another", found)
		}
		d.table = nil
		return nil
	})
	if found != 7 || !reflect.DeepEqual(ready, s) {
		t.Errorf("%d distributions, and without their tables %+v", found, ready)
	}
}
