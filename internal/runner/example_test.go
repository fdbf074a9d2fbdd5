package runner_test

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A row of the debate is run once in the simulator: node 3 forgets the key of client
// 1, and client 2 is granted the lock as well.
func ExampleRun() {
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		panic(err)
	}
	result, err := runner.Run(context.Background(), simulator, row, 1, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Report.Finding(checker.Lease).Verdict, result.AsExpected())
	// Output:
	// violated true
}

// The same row with a crash that lasts for longer than the TTL, a hundred times.
func ExampleBatch() {
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		panic(err)
	}
	for i, f := range row.Plan {
		if _, crash := f.Action.(*nemesis.Crash); crash {
			row.Plan[i].End = nemesis.After(2 * row.Lock.TTL)
		}
	}
	experiment, err := runner.Prepare(simulator, row)
	if err != nil {
		panic(err)
	}
	tally, err := runner.Batch{Experiment: experiment, First: 1, Runs: 100}.Run(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(tally.Rate(checker.Lease), "of the runs violate", checker.Lease.Title())
	// Output:
	// 0/100 of the runs violate lease exclusion
}
