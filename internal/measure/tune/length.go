package tune

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Length is what is known of a time: min and max, percentiles as dashboards show them with a max, or
// samples. Its text form is one time, or a range: 500us, 1ms..5ms.
//
// From min to the first percentile, or to max if there are no percentiles, it is uniform. From there on
// its logarithm is uniform between two stated points (p₁, x₁) and (p₂, x₂), the last of which is (1, max):
//
//	Q(p) = x₁ (x₂/x₁)^((p − p₁)/(p₂ − p₁))
//
// Of all distributions with these quantiles this one adds the least information to a log-uniform one,
// the measure for quantities whose order of magnitude is uncertain (R. Cooke, Experts in Uncertainty,
// Oxford 1991, chapter 12).
type Length struct {
	Min time.Duration `yaml:"min,omitempty" want:"0s.."`
	Max time.Duration `yaml:"max,omitempty" want:"0s.."` // nothing takes longer

	Percentiles map[string]time.Duration `yaml:",inline"` // p50, p99, p999 or p99.9, …

	Samples []time.Duration `yaml:"samples,flow,omitempty" want:"0s.."`

	// See ready.
	curve     []knot
	maxStated bool // else Max is that of the samples
}

// knot says that a share of all times is at most a value, in nanoseconds.
type knot struct {
	name         string
	share, value float64
	log          bool // it is reached from the knot before linearly in the logarithm
}

// longestLength bounds every length, so that runs fit into a scenario.
const longestLength = 240 * time.Hour

func (l Length) isZero() bool {
	return l.Min == 0 && l.Max == 0 && len(l.Percentiles) == 0 && len(l.Samples) == 0
}

// UnmarshalText reads the text form.
func (l *Length) UnmarshalText(text []byte) error {
	low, high, isRange := strings.Cut(string(text), "..")
	if !isRange {
		high = low
	}
	shortest, bad := time.ParseDuration(low)
	most, err := time.ParseDuration(high)
	if cmp.Or(bad, err) != nil {
		return fmt.Errorf("%q is no time: want 500us, 1ms..5ms, {p50: 1ms, p99: 4ms, max: 50ms} or {samples: [1ms, 2ms]}", text)
	}
	*l = Length{Min: shortest, Max: most}
	return nil
}

var percentile = regexp.MustCompile(`^p([0-9]{2})\.?([0-9]*)$`)

// stated returns the stated points, in order.
func (l Length) stated() ([]knot, error) {
	list := []knot{{name: "min", value: float64(l.Min)}, {"max", 1, float64(l.Max), len(l.Percentiles) > 0}}
	for name, value := range l.Percentiles {
		digits := percentile.FindStringSubmatch(name)
		if digits == nil || name == "p100" {
			return nil, wrong(name, "unknown field: want min, max, samples, or a percentile such as p50, p99 or p999")
		}
		share, _ := strconv.ParseFloat("0."+digits[1]+digits[2], 64)
		list = append(list, knot{name, share, float64(value), true})
	}
	slices.SortFunc(list, func(a, b knot) int { return cmp.Compare(a.share, b.share) })
	list[1].log = false
	return list, nil
}

// Consistent returns an error unless the length has one form, whose values rise.
func (l Length) Consistent() error {
	points, err := l.stated()
	switch {
	case err != nil:
		return err
	case len(l.Percentiles) > 0 && len(l.Samples) > 0:
		return wrong("samples", "want one of percentiles and samples")
	case len(l.Percentiles) > 0 && l.Max == 0:
		return wrong("max", "missing: percentiles do not show the longest time")
	case l.Max > longestLength:
		return wrong("max", "%v: want at most %v", textfmt.Whole(l.Max), textfmt.Whole(longestLength))
	case len(l.Samples) > 0 && l.Max > 0 && l.Max < slices.Max(l.Samples):
		return wrong("max", "%v is below the longest sample, %v", l.Max, slices.Max(l.Samples))
	case len(l.Samples) > 0:
		return nil
	}
	for i, k := range points[1:] {
		switch below := points[i]; {
		case k.value < below.value:
			return wrong(k.name, "%v is below %s, %v", time.Duration(k.value), below.name, time.Duration(below.value))
		case k.value == 0 && k.name != "max":
			return wrong(k.name, "0s: want more")
		}
	}
	return nil
}

// ready returns a valid length with its curve. Samples are linear between neighbours. If their max is stated,
// 3 in n times lie between the longest of n samples and the max: that is what they leave open at 95 %.
func (l Length) ready() Length {
	l.maxStated = l.Max > 0 || len(l.Samples) == 0
	if l.curve, _ = l.stated(); len(l.Samples) == 0 {
		return l
	}
	n, seen := float64(len(l.Samples)), 1.0
	if l.maxStated {
		seen = max(0, 1-3/n)
	}
	l.curve, l.Samples = nil, slices.Sorted(slices.Values(l.Samples))
	for i, s := range l.Samples {
		l.curve = append(l.curve, knot{share: seen * float64(i) / max(1, n-1), value: float64(s)})
	}
	l.Max = max(l.Max, l.Samples[len(l.Samples)-1])
	l.curve = append(l.curve, knot{share: 1, value: float64(l.Max)})
	return l
}

// quantile returns the time that a share p of all does not exceed.
func (l Length) quantile(p float64) time.Duration {
	i := sort.Search(len(l.curve)-1, func(i int) bool { return l.curve[i].share >= p })
	if i == 0 {
		return time.Duration(l.curve[0].value)
	}
	from, to := l.curve[i-1], l.curve[i]
	part := (p - from.share) / (to.share - from.share)
	if !to.log {
		return time.Duration(from.value + part*(to.value-from.value))
	}
	return time.Duration(from.value * math.Pow(to.value/from.value, part))
}

// above returns the share of times above x.
func (l Length) above(x time.Duration) float64 {
	at := float64(x)
	i := sort.Search(len(l.curve), func(i int) bool { return l.curve[i].value > at })
	switch i {
	case 0:
		return 1
	case len(l.curve):
		return 0
	}
	from, to := l.curve[i-1], l.curve[i]
	part := (at - from.value) / (to.value - from.value)
	if to.log {
		part = math.Log(at/from.value) / math.Log(to.value/from.value)
	}
	return 1 - to.share + (1-part)*(to.share-from.share)
}

// inSim returns the length, divided, as the simulator draws it: percentiles by a thousand of its quantiles.
func (l Length) inSim(by time.Duration) nemesis.Distribution {
	if len(l.curve) == 2 {
		return nemesis.Distribution{Range: nemesis.Range{Min: l.quantile(0) / by, Max: l.Max / by}}
	}
	var d nemesis.Distribution
	for i := range 1001 {
		d.Samples = append(d.Samples, l.quantile(float64(i)/1000)/by)
	}
	return d
}

func (l Length) String() string {
	switch {
	case len(l.Samples) > 0:
		return fmt.Sprintf("%v to %v (%s)", textfmt.Duration(l.quantile(0)), textfmt.Duration(l.Max), textfmt.Count(len(l.Samples), "sample"))
	case len(l.Percentiles) == 0 && l.Min == l.Max:
		return textfmt.Whole(l.Max)
	case len(l.Percentiles) == 0:
		return textfmt.Whole(l.Min) + " to " + textfmt.Whole(l.Max)
	}
	var list []string
	for _, k := range l.curve[1:] {
		list = append(list, fmt.Sprintf("%s %s", k.name, textfmt.Whole(time.Duration(k.value))))
	}
	return strings.Join(list, ", ")
}
