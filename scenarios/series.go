package scenarios

import "github.com/lockstorm/lockstorm/checker"

// Series is one row of the debate at several values of one thing, which shows
// where a verdict turns, or how often a property breaks.
type Series struct {
	// Name is the row's id, Summary what it shows.
	Name    string
	Summary string
	Claims  Claims

	// Varied is what the points differ in, with its unit: "restart delay / TTL".
	Varied string

	// Property is the one whose violations are counted.
	Property checker.Property

	// Points are in the order in which they are shown.
	Points []Point
}

// Point is one value of a series: a scenario of its own, which can be run by its
// name.
type Point struct {
	Value string // as it is shown
	Scenario
}
