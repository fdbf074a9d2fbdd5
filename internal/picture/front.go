package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/lockstorm/lockstorm/internal/tune"
)

// Front draws the settings from which an advice chose: the risk of each against how long a dead
// holder blocks the others. If a setting is recommended, it shows those that differ from it in TTL
// and extension only.
func Front(a tune.Advice) (Picture, error) {
	shown := a.Front
	if r := a.Recommended; r != nil {
		shown = slices.DeleteFunc(slices.Clone(a.Front), func(w tune.Weighed) bool {
			return w == *r || w.NodeTimeout != r.NodeTimeout || w.RetryMax != r.RetryMax
		})
		shown = append(shown, *r)
	}
	p := panel("", "a dead holder blocks the others for at most [s]", "violations in 10⁹ grants, at most, by the model")
	floor := math.Inf(1) // the risk at which settings without one are drawn
	for _, w := range shown {
		if risk := w.Risk.PerBillion(); risk > 0 {
			floor = min(floor, risk/10)
		}
	}
	var best, others series
	for _, w := range shown {
		at := plotter.XY{X: w.BlockedByDead.Seconds(), Y: w.Risk.PerBillion()}
		if !math.IsInf(floor, 1) {
			at.Y = max(at.Y, floor)
		}
		switch {
		case a.Recommended != nil && w == *a.Recommended:
			name := fmt.Sprintf("recommended: a TTL of %v, extended every %v", w.TTL, w.ExtendEvery)
			if w.ExtendEvery == 0 {
				name = fmt.Sprintf("recommended: a TTL of %v, never extended", w.TTL)
			}
			if err := add(p, 0, series{name: name, points: plotter.XYs{at}}); err != nil {
				return Picture{}, err
			}
		case undominated(w, shown):
			best.points = append(best.points, at)
		default:
			others.points = append(others.points, at)
		}
	}
	slices.SortFunc(best.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	best.name, best.formula, others.name = "no other blocks for less and risks less", best.points, "the others"
	for i, s := range []series{best, others} {
		if len(s.points) > 0 {
			if err := add(p, i+1, s); err != nil {
				return Picture{}, err
			}
		}
	}
	legendAbove(p)
	logarithmic(&p.X)
	if math.IsInf(floor, 1) {
		p.Y.Min, p.Y.Max = 0, 1
	} else {
		logarithmic(&p.Y)
	}
	return Picture{"What a longer lease saves, and what it costs", []*plot.Plot{p}}, nil
}

// logarithmic makes an axis of positive values logarithmic.
func logarithmic(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	if a.Min == a.Max { // a range around 0 would be chosen
		a.Min, a.Max = a.Min/2, a.Max*2
	}
}

// undominated reports whether no other setting is at least as good in blocking and risk, and
// better in one of them.
func undominated(w tune.Weighed, list []tune.Weighed) bool {
	return !slices.ContainsFunc(list, func(o tune.Weighed) bool {
		return o.BlockedByDead <= w.BlockedByDead && o.Risk.Total() <= w.Risk.Total() &&
			(o.BlockedByDead < w.BlockedByDead || o.Risk.Total() < w.Risk.Total())
	})
}
