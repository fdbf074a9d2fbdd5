package scenarios

import "github.com/lockstorm/lockstorm/checker"

// ComparisonDifferences returns the known reasons why a lock in a store does not behave on
// real servers as in the simulated store. docs/evidence/stores.md shows them.
func ComparisonDifferences() []Difference { return comparisonDifferences }

var comparisonDifferences = []Difference{
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Effect, Reason: stepped},
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Lease, Reason: stepped},
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Section, Reason: stepped},
}

// stepped is what becomes of the timers of PostgreSQL under libfaketime.
const stepped = "a clock of a server that is stepped: libfaketime shows the real time to the signal handler in which PostgreSQL decides whether a transaction has been idle for too long, so it ends too early, or never"
