package scenarios

// ComparisonDifferences returns the known reasons why a lock in a store does not behave on
// real servers as in the simulated store. docs/evidence/stores.md shows them.
func ComparisonDifferences() []Difference { return comparisonDifferences }

var comparisonDifferences []Difference
