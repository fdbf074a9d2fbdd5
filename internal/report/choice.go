// Package choice shows the choice that an advice is about, as a picture and in words, for
// terminals and for pages.
package report

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/tune"
)

// FrontPicture is the choice as a picture: the risk of a setting against how long a dead
// holder blocks the others. Where a setting is recommended it shows those that differ from
// it in TTL and extension alone.
func FrontPicture(a tune.Advice) plots.Front {
	shown := a.Front
	if r := a.Recommended; r != nil {
		shown = []tune.Weighed{*r}
		for _, w := range a.Front {
			if w != *r && w.NodeTimeout == r.NodeTimeout && w.RetryMax == r.RetryMax {
				shown = append(shown, w)
			}
		}
	}
	floor := floorOf(shown)
	f := plots.Front{
		Title: "What a longer lease saves, and what it costs",
		X:     plots.Axis{Name: "a dead holder blocks the others for at most", Unit: "s", Log: true},
		Y:     plots.Axis{Name: "violations in 1e9 grants, by the model", Log: floor > 0},
	}
	if floor > 0 && floor < leastRisk(shown) {
		f.Y.Name += " (none: at the bottom)"
	}
	for i, w := range shown {
		s := plots.Setting{X: w.BlockedByDead.Seconds(), Y: max(floor, w.Risk.PerBillion()), Best: undominated(w, shown), Recommended: a.Recommended != nil && i == 0}
		if s.Recommended || s.Best {
			s.Label = fmt.Sprintf("%v, extended: %s", w.TTL, ReadableInterval(w.ExtendEvery))
		}
		f.Settings = append(f.Settings, s)
	}
	return f
}

// leastRisk is the least risk of the settings that is more than none; none has one: +∞.
func leastRisk(list []tune.Weighed) float64 {
	least := math.Inf(1)
	for _, w := range list {
		if risk := w.Risk.PerBillion(); risk > 0 {
			least = min(least, risk)
		}
	}
	return least
}

// floorOf is where those without a risk are drawn on a logarithmic axis: below the others. It
// is 0 where nobody has a risk, and the axis is a linear one.
func floorOf(list []tune.Weighed) float64 {
	least := leastRisk(list)
	if math.IsInf(least, 1) {
		return 0
	}
	for _, w := range list {
		if w.Risk.PerBillion() == 0 {
			return least / 10
		}
	}
	return least
}

// undominated reports whether no other setting blocks as shortly and risks as little, and
// does better in one of both.
func undominated(w tune.Weighed, list []tune.Weighed) bool {
	for _, o := range list {
		if o.BlockedByDead <= w.BlockedByDead && o.Risk.Total() <= w.Risk.Total() &&
			(o.BlockedByDead < w.BlockedByDead || o.Risk.Total() < w.Risk.Total()) {
			return false
		}
	}
	return true
}

// ReadableInterval says how often a hold is extended.
func ReadableInterval(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return d.String()
}
