package sweep

import (
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
