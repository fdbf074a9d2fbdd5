package sweep

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Sweep has points, at which a property is measured, and boundaries, at which its verdict
// changes. Either may be missing.
type Sweep struct {
	Name       string // as in "restart-delay"; valid as a scenario's name
	Summary    string // one line
	Property   checker.Property
	Params     []Param // at least one; the first is the x axis of curves
	Points     []Point
	Boundaries []Boundary

	// Formula is the formula of all curves, if the user has stated one.
	Formula string

	// Command is the command line that runs the sweep; empty: by its name.
	Command string

	// Runs is the default number of runs of each point, and of each x of a boundary, in
	// virtual time: 1 if nothing is random, 0 for the general default.
	Runs int
}

// Param is a number in which points differ.
type Param struct {
	Name    string `json:"name"`           // as in "restart_delay"
	Unit    string `json:"unit,omitempty"` // as in "TTL"; empty: none
	Summary string `json:"summary"`        // one line
}

// Point is one point of a sweep.
type Point struct {
	// Curve names the points that form a curve, as in "plain, no persistence".
	Curve string

	// At has the value of each parameter, in their order.
	At []float64

	// Scenario is what is run. Its name is different at every point.
	Scenario scenarios.Scenario

	// Predicted is the probability that a run violates the property, according to a formula;
	// nil: there is none.
	Predicted *float64
}

// Boundary is where a property changes with one number x, the sweep's first parameter,
// everything else being fixed: it is violated below, and holds above.
type Boundary struct {
	Curve string
	At    []float64 // the values of the fixed parameters: all but the first

	// Scenario returns the scenario at x.
	Scenario func(x float64) scenarios.Scenario

	// The search begins with Low, where the property should be violated, and High, where it
	// should hold. It ends when the boundary is known to Within, which is positive.
	Low, High, Within float64

	// Predicted is the boundary according to a formula. Rules has what rules of thumb say, by
	// name. The property is tried at each of them.
	Predicted float64
	Rules     map[string]float64
}

// unit is what a measurement measures as one piece: a point or a boundary.
type unit struct {
	number   int // from 1: the points of the sweep, and then its boundaries
	point    *Point
	boundary *Boundary
}

// units returns the units of a sweep.
func (s Sweep) units() []unit {
	var all []unit
	for i := range s.Points {
		all = append(all, unit{number: len(all) + 1, point: &s.Points[i]})
	}
	for i := range s.Boundaries {
		all = append(all, unit{number: len(all) + 1, boundary: &s.Boundaries[i]})
	}
	return all
}

// Units returns the number of points and boundaries. They are numbered from 1, points first.
func (s Sweep) Units() int { return len(s.Points) + len(s.Boundaries) }

// At returns the scenario of a unit; for a boundary, the one at x.
func (s Sweep) At(number int, x float64) (scenarios.Scenario, error) {
	if number < 1 || number > s.Units() {
		return scenarios.Scenario{}, s.unknownUnit(number)
	}
	u := s.units()[number-1]
	if u.point != nil {
		return u.point.Scenario, nil
	}
	return u.boundary.Scenario(x), nil
}

func (s Sweep) unknownUnit(number int) error {
	return fmt.Errorf("the sweep %s has no point %d: want 1 to %d", s.Name, number, s.Units())
}

// scenarios returns the scenarios that are certainly run: for a boundary those at both ends,
// and at the x of the formula and the rules of thumb.
func (u unit) scenarios() []scenarios.Scenario {
	if u.point != nil {
		return []scenarios.Scenario{u.point.Scenario}
	}
	b := u.boundary
	all := []scenarios.Scenario{b.Scenario(b.Low), b.Scenario(b.High), b.Scenario(b.Predicted)}
	for _, name := range slices.Sorted(maps.Keys(b.Rules)) {
		all = append(all, b.Scenario(b.Rules[name]))
	}
	return all
}

// name returns the name of the unit for errors.
func (u unit) name() string {
	if u.point != nil {
		return fmt.Sprintf("point %d (%s)", u.number, u.point.Scenario.Name)
	}
	return fmt.Sprintf("boundary %d (%s)", u.number, u.boundary.Curve)
}

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Validate returns an error if the sweep is invalid. It does not validate the scenarios.
func (s Sweep) Validate() error {
	switch {
	case !names.MatchString(s.Name):
		return fmt.Errorf("the sweep %q: want a name of lower-case letters, digits and hyphens", s.Name)
	case s.Property.Code() == "":
		return fmt.Errorf("the sweep %s: no property %q", s.Name, string(s.Property))
	case len(s.Params) == 0:
		return fmt.Errorf("the sweep %s: no parameter", s.Name)
	case s.Runs < 0:
		return fmt.Errorf("the sweep %s: %d runs", s.Name, s.Runs)
	case s.Units() == 0:
		return fmt.Errorf("the sweep %s: neither points nor boundaries", s.Name)
	}
	for _, p := range s.Params {
		if !names.MatchString(p.Name) {
			return fmt.Errorf("the sweep %s: the parameter %q: want a name of lower-case letters, digits and _", s.Name, p.Name)
		}
	}
	seen := map[string]bool{}
	for _, u := range s.units() {
		err := u.validate(len(s.Params))
		if u.point != nil && err == nil {
			if seen[u.point.Scenario.Name] {
				err = errors.New("another point has a scenario of that name")
			}
			seen[u.point.Scenario.Name] = true
		}
		if err != nil {
			return fmt.Errorf("the sweep %s: %s: %w", s.Name, u.name(), err)
		}
	}
	return nil
}

// validate returns an error if a unit does not fit a sweep with so many parameters.
func (u unit) validate(params int) error {
	if p := u.point; p != nil {
		switch {
		case len(p.At) != params:
			return fmt.Errorf("%d values for %d parameters", len(p.At), params)
		case !finite(p.At...):
			return fmt.Errorf("values %v: want finite numbers", p.At)
		case p.Predicted != nil && !(0 <= *p.Predicted && *p.Predicted <= 1):
			return fmt.Errorf("a predicted probability of %v", *p.Predicted)
		}
		return nil
	}
	b := u.boundary
	values := slices.Concat(b.At, []float64{b.Low, b.High, b.Within, b.Predicted})
	for _, x := range b.Rules {
		values = append(values, x)
	}
	switch {
	case len(b.At) != params-1:
		return fmt.Errorf("%d fixed values for %d parameters, of which the first is looked for", len(b.At), params)
	case !finite(values...):
		return fmt.Errorf("values %v: want finite numbers", values)
	case b.Scenario == nil:
		return errors.New("no scenario")
	case !(b.Low < b.High) || !(b.Within > 0):
		return fmt.Errorf("from %v to %v, within %v: want a low end below a high one, and more than 0", b.Low, b.High, b.Within)
	}
	return nil
}

func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
