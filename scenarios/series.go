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

	// Unordered says that no value is more than another, so that there is no
	// threshold: the property breaks at some of them.
	Unordered bool

	// Formula is the value at which the property should turn, and why, as it is
	// printed beside what was found. "" if there is none.
	Formula string

	// Remark is what a reader should know beside the verdicts.
	Remark string

	// Measures are what else is shown of each point.
	Measures []Measure

	// Points are in the order in which they are shown.
	Points []Point

	// Cures are as those of a [Row], at every point. Damages are changes that break a
	// property at some point at which it holds.
	Cures   []Change
	Damages []Damage
}

// Measure is a figure that belongs to a series: what its values cost.
type Measure uint8

// The measures.
const (
	PerMillion Measure = iota + 1 // violations in a million grants
	TriesPerGrant
	RequestsPerGrant
	RoundsToGrant // to the first one
	Blocked       // after a holder's death
)

// Point is one value of a series: a scenario of its own, which can be run by its
// name.
type Point struct {
	Value string // as it is shown
	Scenario
}
