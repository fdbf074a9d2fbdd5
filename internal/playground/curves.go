package playground

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
)

// Curve names a curve of a sweep: the probability of a violation as a function of one number.
type Curve struct {
	Sweep    string   `json:"sweep"` // "restart-delay"
	Name     string   `json:"name"`  // "plain, no persistence"
	Summary  string   `json:"summary"`
	Property Property `json:"property"`
	Axis     string   `json:"axis"` // "restart_delay (TTL)"
}

// CurvePoints are the points of a curve, in the order of X.
type CurvePoints struct {
	Points []CurvePoint `json:"points"`
}

// CurvePoint is a point to be measured.
type CurvePoint struct {
	X         float64  `json:"x"`
	Predicted *float64 `json:"predicted,omitempty"` // by the formula, 0 to 1; missing: there is none
	Scenario  string   `json:"scenario"`            // YAML
}

// sweeps are those whose points are on curves over their first number.
func sweeps() []sweep.Sweep { return []sweep.Sweep{series.RestartDelay(), series.Drift()} }

// varying returns the indices of the numbers in which the points of one name differ.
func varying(s sweep.Sweep, name string) (axes []int) {
	for i := range s.Params {
		seen := map[float64]bool{}
		for _, p := range s.Points {
			if p.Curve == name {
				seen[p.At[i]] = true
			}
		}
		if len(seen) > 1 {
			axes = append(axes, i)
		}
	}
	return axes
}

// curvesOf returns the curves that a point is on: one over each of the numbers that vary. The others of
// these are part of the curve's name.
func curvesOf(s sweep.Sweep, p sweep.Point, axes []int) (list []Curve) {
	for _, axis := range axes {
		name := p.Curve
		for _, i := range axes {
			if param := s.Params[i]; i != axis {
				name += strings.TrimRight(fmt.Sprintf(", %s %g %s", strings.ReplaceAll(param.Name, "_", " "), p.At[i], param.Unit), " ")
			}
		}
		list = append(list, Curve{s.Name, name, s.Summary, propertyOf(s.Property), s.Params[axis].Head()})
	}
	return list
}

// line is a curve and its points.
type line struct {
	Curve
	points []linePoint
}

// linePoint is a point of a sweep, and its place on a curve.
type linePoint struct {
	sweep.Point
	x float64
}

// lines are all curves. Making the sweeps takes a tenth of a second, so it is done once.
var lines = sync.OnceValue(func() []line {
	var list []line
	index := map[Curve]int{}
	for _, s := range sweeps() {
		axes := map[string][]int{}
		for _, p := range s.Points {
			if axes[p.Curve] == nil {
				axes[p.Curve] = varying(s, p.Curve)
			}
			for i, c := range curvesOf(s, p, axes[p.Curve]) {
				n, known := index[c]
				if !known {
					n, index[c] = len(list), len(list)
					list = append(list, line{Curve: c})
				}
				list[n].points = append(list[n].points, linePoint{p, p.At[axes[p.Curve][i]]})
			}
		}
	}
	return list
})

// Curves lists the curves that can be drawn.
func Curves() ([]Curve, error) {
	list := make([]Curve, len(lines()))
	for i, l := range lines() {
		list[i] = l.Curve
	}
	return list, nil
}

// Points returns the points of a curve.
func Points(c Curve) (CurvePoints, error) {
	var answer CurvePoints
	i := slices.IndexFunc(lines(), func(l line) bool { return l.Curve == c })
	if i < 0 {
		return answer, fmt.Errorf("there is no curve %q of %q", c.Name, c.Sweep)
	}
	for _, p := range lines()[i].points {
		text, err := printed(p.Scenario)
		if err != nil {
			return answer, err
		}
		answer.Points = append(answer.Points, CurvePoint{p.x, p.Predicted, text})
	}
	slices.SortStableFunc(answer.Points, func(a, b CurvePoint) int { return cmp.Compare(a.X, b.X) })
	return answer, nil
}
