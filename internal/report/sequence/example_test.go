package sequence_test

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/report/sequence"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/trace"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Runs a saved case again, traces it, and draws it.
func Example() {
	c, err := cases.Load("../../../testdata/cases/redlock-lease-crash-restart.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := runner.Prepare(simulated.Backend(), c.Scenario)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, t := trace.Of(e)
	r, err := e.Run(context.Background(), c.Seed, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := sequence.Of(t, r.Report.Finding(c.Property))
	for _, p := range d.Participants {
		fmt.Println(p.Name)
	}
	fmt.Printf("%d messages; two hold from %v to %v\n", len(d.Messages), d.Overlap.From.At, d.Overlap.To.At)
	// Output:
	// faults
	// client 1
	// client 2
	// node 1
	// node 2
	// node 3
	// 23 messages; two hold from 202ms to 252ms
}
