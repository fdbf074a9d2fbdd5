package scenarios

import "github.com/lockstorm/lockstorm/checker"

// ComparisonDifferences returns the known reasons why a lock in a store does not behave on
// real servers as in the simulated store. docs/evidence/stores.md shows them.
func ComparisonDifferences() []Difference { return comparisonDifferences }

var comparisonDifferences = slowElections("crash", "restart", "one-down", "storm")

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
