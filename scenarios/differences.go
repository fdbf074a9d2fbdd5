package scenarios

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// ComparisonDifferences returns the known reasons why a lock in a store does not behave on
// real servers as in the simulated store. docs/evidence/stores.md shows them.
func ComparisonDifferences() []Difference { return comparisonDifferences }

var comparisonDifferences = slices.Concat(slowElections("crash", "restart", "one-down", "leader-isolated", "storm"), []Difference{
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Effect, Reason: stepped},
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Lease, Reason: stepped},
	{Row: "compare-storm-advisory-transaction", Backend: "process", Property: checker.Section, Reason: stepped},
})

// slowElections are the differences of a lock on NATS in trials in which the leader can be lost.
// The bound of a grant is less than an election of nats-server 2.9 can take.
func slowElections(trials ...string) (list []Difference) {
	for _, t := range trials {
		list = append(list, Difference{
			Row: ComparisonName(t, "expiring-key"), Backend: "process", Property: checker.DeadlockFreedom,
			Reason: "nats-server begins to elect a leader 4 to 9 s after the last one is lost, even if that is back at once; the bound of a grant is 4 s",
		})
	}
	return list
}

// stepped is what becomes of the timers of PostgreSQL under libfaketime.
const stepped = "a clock of a server that is stepped: libfaketime shows the real time to the signal handler in which PostgreSQL decides whether a transaction has been idle for too long, so it ends too early, or never"
