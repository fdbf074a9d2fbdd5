package drift_test

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/sweep/drift"
)

// Nodes whose clocks are 0.2 % fast and holders whose clocks are 0.3 % slow need half a
// percent of the TTL.
func ExampleCovering() {
	fmt.Printf("%.4f\n", drift.Covering(0.002, 0.003))
	// Output: 0.0050
}
