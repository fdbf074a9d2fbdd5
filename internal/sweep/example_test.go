package sweep_test

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/sweep"
)

// How often a node that comes back too soon lets two hold the lock, for two delays.
func ExampleMeasurement() {
	s := sweep.Sweep{
		Name: "two-delays", Property: checker.Lease,
		Params: []sweep.Param{{Name: "restart_delay", Unit: "TTL"}},
	}
	for _, x := range []float64{0.5, 1.1} {
		s.Points = append(s.Points, sweep.Point{Curve: "one crash", At: []float64{x}, Scenario: away(x)})
	}
	c := sweep.Measurement{Sweep: s, Backend: simulated.Backend(), Runs: 20, First: 1, SideBySide: 1}
	if err := c.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	err := c.Run(context.Background(), nil, func(o sweep.Outcome) error {
		fmt.Println(o.At[0], o.Point.Rate(), o.Point.Rate().Interval())
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0.5 20/20 [83.9, 100]
	// 1.1 0/20 [0, 16.1]
}
