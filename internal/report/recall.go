package report

import (
	"fmt"

	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Recall returns what a reference says of scenarios as they are now.
func Recall(f results.Reference) (Tallies, error) {
	found := Tallies{}
	for _, r := range f.Rows {
		s, err := scenarios.Find(r.Scenario)
		if err != nil {
			return nil, fmt.Errorf("the stored results are not of this program: %w", err)
		}
		found[r.Scenario] = r.Tally(s)
	}
	return found, nil
}
