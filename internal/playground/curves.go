package playground

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/series"
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

// Curves lists the curves that can be drawn.
func Curves() ([]Curve, error) {
	var list []Curve
	for _, s := range sweeps() {
		for _, p := range s.Points {
			c := Curve{s.Name, p.Curve, s.Summary, propertyOf(s.Property), s.Params[0].Head()}
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list, nil
}

// Points returns the points of a curve.
func Points(c Curve) (CurvePoints, error) {
	var answer CurvePoints
	for _, s := range sweeps() {
		for _, p := range s.Points {
			if s.Name != c.Sweep || p.Curve != c.Name {
				continue
			}
			text, err := printed(p.Scenario)
			if err != nil {
				return answer, err
			}
			answer.Points = append(answer.Points, CurvePoint{p.At[0], p.Predicted, text})
		}
	}
	if len(answer.Points) == 0 {
		return answer, fmt.Errorf("there is no curve %q of %q", c.Name, c.Sweep)
	}
	slices.SortStableFunc(answer.Points, func(a, b CurvePoint) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	return answer, nil
}
