package scenarios

import "github.com/lockstorm/lockstorm/checker"

// Difference is why a row shows something else of a property on a backend of real
// servers than in the simulator. Somebody has looked for it; docs/evidence/agreement.md shows it.
type Difference struct {
	Row      string
	Backend  string
	Property checker.Property
	Reason   string
}

// Differences returns all that is known, in the order of the rows.
func Differences() []Difference { return differences }

var differences = unrecorded("clone", "clone-quarantine", "clone-fenced")

// unrecorded are the differences of rows in which a client deletes the key of another,
// which breaks the contract and shows in the nodes' keys alone.
func unrecorded(rows ...string) []Difference {
	var all []Difference
	for _, row := range rows {
		for _, backend := range []string{"process", "container"} {
			all = append(all, Difference{row, backend, checker.Contract,
				"The client that is refused deletes the holder's keys. That breaks the contract, and is seen where the history records the nodes' keys: not on real servers."})
		}
	}
	return all
}
