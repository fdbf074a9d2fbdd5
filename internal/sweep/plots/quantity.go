package plots

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// Quantity is what can be shown of the points of a sweep.
type Quantity struct {
	Name string // in the names of files; "" of what a sweep is about
	Axis Axis

	// Interval and Zero stand in the legends, see [Curves] and [HeatMap].
	Interval, Zero string

	// Of returns the value, and the interval in which it lies; X is set by who asks.
	// Known: there is one.
	Of func(sweep.Measured) (p Point, known bool)

	// Predicted says that the formula of the sweep is for this quantity.
	Predicted bool
}

// Share is the probability that a run violates the property of the sweep.
var Share = Quantity{
	Axis:     Axis{Name: "probability of a violation", From: 0, To: 1},
	Interval: "95 % interval (Wilson)",
	Zero:     "no run violates it",
	Of: func(m sweep.Measured) (Point, bool) {
		lo, hi := m.Interval()
		return Point{Y: m.Rate().Share(), Lo: lo, Hi: hi}, m.Rate().N > 0
	},
	Predicted: true,
}

// Availability is the share of the time in which somebody held the resource, of that in
// which somebody wanted it. Nothing is known of how sure it is.
var Availability = Quantity{
	Name: "availability",
	Axis: Axis{Name: "availability", From: 0, To: 1},
	Zero: "never available",
	Of: func(m sweep.Measured) (Point, bool) {
		v := m.Measurements.Availability
		return Point{Y: v, Lo: v, Hi: v}, m.Measurements.Wanted > 0
	},
}

// Outage is the longest outage of a run, the median of all runs.
var Outage = Quantity{
	Name: "outage",
	Axis: Axis{Name: "longest outage of a run, median", Unit: "s"},
	Of: func(m sweep.Measured) (Point, bool) {
		v := m.Measurements.MedianOutage.Seconds()
		return Point{Y: v, Lo: v, Hi: v}, m.Measurements.Wanted > 0
	},
}

// curve makes a curve of its points, from left to right.
func (q Quantity) curve(g group[sweep.Outcome]) Curve {
	c := Curve{Name: g.name}
	sorted := slices.SortedStableFunc(slices.Values(g.members), func(a, b sweep.Outcome) int { return cmp.Compare(a.At[0], b.At[0]) })
	for _, o := range sorted {
		if p, known := q.Of(*o.Point); known {
			p.X = o.At[0]
			c.Points = append(c.Points, p)
		}
		if q.Predicted && o.Point.Predicted != nil {
			c.Formula = append(c.Formula, XY{o.At[0], *o.Point.Predicted})
		}
	}
	return c
}
