package scenarios

import "github.com/lockstorm/lockstorm/checker"

// Series is one row of the debate at several values of a parameter. It shows
// where a verdict turns, or how often a property breaks.
type Series struct {
	// Name is the row's name, Summary what it shows.
	Name    string
	Summary string
	Claims  []Claim // without claims it is ours

	// Varied is the parameter in which the points differ, with its unit: "restart delay / TTL".
	Varied string

	// Property is the property whose violations are counted.
	Property checker.Property

	// Unordered says that the values have no order, so that there is no
	// threshold: the property breaks at some of them.
	Unordered bool

	// Formula is the value at which the property should turn, and why, as
	// printed beside the result. "" if there is none.
	Formula string

	// Remark is what a reader should know besides the verdicts.
	Remark string

	// Measures are the other figures that are shown of each point.
	Measures []Measure

	// Points are in the order in which they are shown.
	Points []Point

	// Cures are as those of a row ([Debate]), at every point. Damages are changes that break a
	// property at some point where it holds.
	Cures   []Change
	Damages []Damage
}

// Measure is a figure of a series: the cost of its values.
type Measure uint8

// The measures.
const (
	PerMillion  Measure = iota + 1 // violations in a million grants
	LostUpdates                    // of all updates, where a violation is found once a resource and not for each grant
	TriesPerGrant
	RequestsPerGrant
	RoundsToGrant // to the first one
	Blocked       // after a holder's death
)

// Point is one value of a series: a scenario that can be run by its name.
type Point struct {
	Value string // as it is shown
	Scenario
}
