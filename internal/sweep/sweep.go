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

// Sweep is points, in which the same property is counted, and boundaries, at which it
// turns. Either may be missing.
type Sweep struct {
	Name       string // as in "restart-delay": what the name of a scenario may be
	Summary    string // a line on what it shows
	Property   checker.Property
	Params     []Param // at least one; the first is what a curve is drawn over
	Points     []Point
	Boundaries []Boundary

	// Runs is how many runs each point, and each x of a boundary, should get where nobody
	// says how many, in virtual time: 1 where nothing is drawn. 0: as many as usual.
	Runs int
}

// Param is a number in which points differ.
type Param struct {
	Name    string `json:"name"`           // in a table's head and in files, as in "restart_delay"
	Unit    string `json:"unit,omitempty"` // as in "TTL"; "" of a mere number
	Summary string `json:"summary"`        // a line on what it means
}

// Point is one place of a sweep.
type Point struct {
	// Curve names the points that belong together in a picture, in words, as in "plain,
	// no persistence".
	Curve string

	// At is the value of each parameter, in their order.
	At []float64

	// Scenario is what is run there. Its name is another at every point.
	Scenario scenarios.Scenario

	// Predicted is the probability, 0 to 1, that a run violates the property, by a
	// formula; nil: there is none.
	Predicted *float64
}

// Boundary is looked for where a property turns with one number x, the sweep's first
// parameter, everything else being fixed: it is violated below, and holds above.
type Boundary struct {
	Curve string
	At    []float64 // the values of the parameters that are fixed: all but the first

	// Scenario is what is run at x.
	Scenario func(x float64) scenarios.Scenario

	// Low and High are where the search begins, violated at the one and not at the other:
	// where that is not so, the boundary lies outside. It ends when what is violated and
	// what holds are no farther apart than Within, which is more than 0.
	Low, High, Within float64

	// Predicted is where a formula has the boundary; Rules are what rules of thumb say, by
	// name. At each of them it is tried whether the property holds.
	Predicted float64
	Rules     map[string]float64
}

// unit is what a campaign does as one piece: a point, or else a boundary.
type unit struct {
	number   int // from 1: the points of the sweep, and then its boundaries
	point    *Point
	boundary *Boundary
}

// units lists the units of a sweep.
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

// Units returns how many points and boundaries there are. They have numbers from 1: the
// points, and then the boundaries.
func (s Sweep) Units() int { return len(s.Points) + len(s.Boundaries) }

// At returns the scenario of a unit, by its number; of a boundary, that at x.
func (s Sweep) At(number int, x float64) (scenarios.Scenario, error) {
	if number < 1 || number > s.Units() {
		return scenarios.Scenario{}, s.noUnit(number)
	}
	u := s.units()[number-1]
	if u.point != nil {
		return u.point.Scenario, nil
	}
	return u.boundary.Scenario(x), nil
}

func (s Sweep) noUnit(number int) error {
	return fmt.Errorf("the sweep %s has no point %d: want 1 to %d", s.Name, number, s.Units())
}

// scenarios returns what is run at a unit for certain: of a boundary at both ends, and
// where the formula and the rules of thumb have it.
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

// name is what an error calls the unit.
func (u unit) name() string {
	if u.point != nil {
		return fmt.Sprintf("point %d (%s)", u.number, u.point.Scenario.Name)
	}
	return fmt.Sprintf("boundary %d (%s)", u.number, u.boundary.Curve)
}

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Validate says what is wrong with a sweep, but for its scenarios.
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

// validate says what is wrong with a unit of a sweep that has so many parameters.
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
