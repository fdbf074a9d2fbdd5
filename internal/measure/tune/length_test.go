package tune

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

func uniform(lo, hi time.Duration) Length { return Length{Min: lo, Max: hi} }

func percentiles(p50, p99, most time.Duration) Length {
	return Length{Max: most, Percentiles: map[string]time.Duration{"p50": p50, "p99": p99}}
}

// The stated percentiles are met, and between them the logarithm is uniform: by hand, half of the way in
// probability from p50 of 1ms to p99 of 100ms is at 10ms.
func TestPercentilesAreMet(t *testing.T) {
	l := percentiles(ms, 100*ms, time.Second).ready()
	for p, want := range map[float64]time.Duration{0: 0, 0.25: ms / 2, 0.5: ms, 0.745: 10 * ms, 0.99: 100 * ms, 1: time.Second} {
		if got := l.quantile(p); (got - want).Abs() > time.Microsecond {
			t.Errorf("at %v: %v, want %v", p, got, want)
		}
	}
	if got := l.above(time.Duration(math.Sqrt(1e8 * 1e9))); math.Abs(got-0.005) > 1e-9 {
		t.Errorf("half of the way from p99 to max: %v, want 0.005", got)
	}
	for name, share := range map[string]float64{"p75": 0.75, "p999": 0.999, "p99.9": 0.999, "p05": 0.05, "p9999": 0.9999} {
		l := Length{Max: 2 * ms, Percentiles: map[string]time.Duration{name: ms}}
		if err := form.Check(&l); err != nil || math.Abs(l.ready().above(ms)-(1-share)) > 1e-12 {
			t.Errorf("%s: %v above, %v", name, l.ready().above(ms), err)
		}
	}
}

func drawLength(t *rapid.T) Length {
	value := func(name string, least time.Duration) time.Duration {
		return least + time.Duration(rapid.IntRange(1, 1000).Draw(t, name))*ms
	}
	least := value("min", 0) - ms
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		return Length{Min: least, Max: value("width", least)}
	case 1:
		p50 := value("p50", least)
		p90 := value("p90", p50)
		return Length{Min: least, Max: value("max", p90), Percentiles: map[string]time.Duration{"p50": p50, "p90": p90}}
	}
	var l Length
	for range rapid.IntRange(1, 20).Draw(t, "n") {
		l.Samples = append(l.Samples, value("sample", 0))
	}
	return l
}

// Law: in every form, a share p of all times is at most the p-quantile, and the simulator draws the same
// quantiles.
func TestQuantilesAndSharesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLength(t)
		if err := form.Check(&l); err != nil {
			t.Fatal(err)
		}
		l = l.ready()
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		x := l.quantile(p)
		if above, below := l.above(x), l.above(x-1); above > 1-p+2e-6 || below < 1-p-2e-6 {
			t.Errorf("%v: at the %v-quantile %v, %v are above, and %v just before", l, p, x, above, below)
		}
		d := l.inSim(2)
		if err := form.Check(&d); err != nil {
			t.Fatal(err)
		}
		if got, slack := d.Table().Draw(uint64(p*(1<<53))<<11), l.Max/50; (2*got - x).Abs() > slack {
			t.Errorf("%v: the simulator draws %v as half of the %v-quantile %v", l, got, p, x)
		}
	})
}

// Samples with a stated max leave 3 in n open, up to the max; without one they end with the longest.
func TestSamplesLeaveTheirTailOpen(t *testing.T) {
	var l Length
	for i := range 1000 {
		l.Samples = append(l.Samples, time.Duration(i)*ms)
	}
	if got := l.ready().above(999 * ms); got != 0 {
		t.Errorf("without a max: %g are beyond the longest", got)
	}
	l.Max = 1999 * ms
	for x, want := range map[time.Duration]float64{999 * ms: 0.003, 1499 * ms: 0.0015, 1999 * ms: 0} {
		if got := l.ready().above(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g are beyond %v, want %g", got, x, want)
		}
	}
}

// An error names the field of a length that contradicts itself.
func TestBadLengths(t *testing.T) {
	for want, l := range map[string]Length{
		"p99: 1ms is below p50, 5ms":    percentiles(5*ms, ms, time.Second),
		"max: 10ms is below p99, 20ms":  percentiles(5*ms, 20*ms, 10*ms),
		"max: missing":                  percentiles(5*ms, 20*ms, 0),
		"max: 1ms is below min, 5ms":    uniform(5*ms, ms),
		"max: 241h: want at most":       uniform(0, 241*time.Hour),
		"p50: 0s: want more":            percentiles(0, ms, ms),
		"p50: 1ms is below min, 2ms":    {Min: 2 * ms, Max: time.Second, Percentiles: map[string]time.Duration{"p50": ms}},
		"p50: -1ms is below min, 0s":    percentiles(-ms, ms, ms),
		"p100: unknown field":           {Max: ms, Percentiles: map[string]time.Duration{"p100": ms}},
		"mox: unknown field: want min":  {Max: ms, Percentiles: map[string]time.Duration{"mox": ms}},
		"samples: want one of":          {Max: time.Second, Percentiles: map[string]time.Duration{"p50": ms}, Samples: []time.Duration{ms}},
		"samples[1]: -1ms is negative":  {Samples: []time.Duration{ms, -ms}},
		"max: 1ms is below the longest": {Max: ms, Samples: []time.Duration{ms, 2 * ms}},
	} {
		err := form.Check(&l)
		var wrong *nemesis.FieldError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &wrong) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The model agrees with drawn pauses: it is never below by more than the noise, and above only by the
// rounding of its grid.
func TestLatenessAgreesWithDrawnPauses(t *testing.T) {
	const throws, running, slack = 40_000, 200 * ms, 150 * ms
	for name, lengths := range map[string][]Length{
		"uniform":     {uniform(5*ms, 80*ms)},
		"percentiles": {percentiles(20*ms, 140*ms, time.Second)},
		"two kinds":   {percentiles(5*ms, 60*ms, 200*ms), uniform(100*ms, 400*ms)},
	} {
		for _, every := range []time.Duration{20 * ms, 300 * ms, 5 * time.Second} {
			k := Known{Nodes: 1, RoundTrip: uniform(0, 0)}
			for i, l := range lengths {
				k.Pauses = append(k.Pauses, Pause{every * time.Duration(i+1), l})
			}
			m, d, late := newModel(k), rng{rand.New(rand.NewPCG(1, 2))}, 0
			for range throws {
				sum := time.Duration(0)
				for _, p := range d.stops(m.Pauses, running) {
					sum += p.length
				}
				if sum > slack {
					late++
				}
			}
			seen := float64(late) / throws
			if got, noise := m.beyond(running, slack), 4*math.Sqrt(seen*(1-seen)/throws); got < seen-noise-1e-4 || got > 1.1*seen+noise+1e-3 {
				t.Errorf("%s every %v: the model has %.4f, draws show %.4f", name, every, got, seen)
			}
		}
	}
}
