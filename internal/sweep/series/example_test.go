package series_test

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/internal/sweep/series"
)

// A TTL of 10 s with a drift factor of 1 % leaves an allowance of 102 ms. The holders'
// clocks are slow by 0.1 % at most, and the clock that counts the delay is fast by 0.1 %.
func ExampleSafeDelay() {
	fmt.Println(series.SafeDelay(10*time.Second, 102*time.Millisecond, 0.001, 0.001).Round(time.Millisecond))
	// Output: 9.918s
}

// A node that returns after half of the validity, 5 ms before a rival asks it, breaks every
// second lease that needs it.
func ExamplePlainRisk() {
	fmt.Printf("%.3f\n", series.PlainRisk(500*time.Millisecond, time.Second, 5*time.Millisecond))
	// Output: 0.495
}

// Nodes whose clocks are 0.2 % fast and holders whose clocks are 0.3 % slow need half a
// percent of the TTL.
func ExampleNeededAllowance() {
	fmt.Printf("%.4f\n", series.NeededAllowance(0.002, 0.003))
	// Output: 0.0050
}
