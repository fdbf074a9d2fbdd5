package scenarios

import "github.com/lockstorm/lockstorm/checker"

// Difference is why a row shows something else of a property on a backend of real
// servers than in the simulator. Somebody has looked for it; docs/agreement.md shows it.
type Difference struct {
	Row      string
	Backend  string
	Property checker.Property
	Reason   string
}

// Differences returns all that is known, in the order of the rows.
func Differences() []Difference { return differences }

var differences = []Difference{}
