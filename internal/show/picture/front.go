package picture

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
)

// Front draws the Pareto-optimal settings of an advice: the risk of each against how long a dead
// holder blocks the others. If a setting is recommended, it shows those that differ from it in TTL
// and extension only. Settings without a risk are at the bottom.
func Front(a tune.Advice) (Picture, error) {
	var recommended, others series
	floor := math.Inf(1)
	for _, w := range a.Front {
		if risk := w.Risk.PerBillion(); risk > 0 {
			floor = min(floor, risk/10)
		}
	}
	logarithmicRisk := !math.IsInf(floor, 1)
	add := func(s *series, w tune.Weighed) {
		risk := w.Risk.PerBillion()
		if logarithmicRisk {
			risk = max(risk, floor)
		}
		s.add(w.BlockedByDead.Seconds(), risk, risk, risk)
	}
	r := a.Recommended
	if r != nil {
		recommended.name = fmt.Sprintf("recommended: a TTL of %v", r.TTL)
		add(&recommended, *r)
	}
	others.name = "no other is better in every way"
	for _, w := range a.Front {
		if r == nil || w != *r && w.NodeTimeout == r.NodeTimeout && w.RetryMax == r.RetryMax {
			add(&others, w)
		}
	}
	p := panel("", "a dead holder blocks the others for at most [s]", "violations in 1e9")
	for i, s := range []series{others, recommended} {
		if err := s.draw(p, i); err != nil {
			return Picture{}, err
		}
	}
	logarithmic(&p.X)
	if logarithmicRisk {
		logarithmic(&p.Y)
	} else {
		p.Y.Min, p.Y.Max = 0, 1
	}
	picture := Picture{Title: "Violations in 1e9 grants, at most, by the model, against how long a dead holder blocks the others"}
	return picture, picture.add(p, nil)
}

// logarithmic makes an axis of positive values logarithmic, from one power of ten to another.
func logarithmic(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	low, high := math.Floor(math.Log10(a.Min)), math.Ceil(math.Log10(a.Max))
	a.Min, a.Max = math.Pow(10, low), math.Pow(10, max(high, low+1))
}
