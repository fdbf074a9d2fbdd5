package cases_test

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A saved case is loaded and run again.
func ExampleLoad() {
	c, err := cases.Load("../../testdata/cases/redlock-lease-crash-restart.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := c.Simulate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict := report.Finding(c.Property).Verdict
	fmt.Println(c.Property.Title(), "is", verdict)
	fmt.Println("as the case says:", verdict == c.Shows)
	// Output:
	// lease exclusion is violated
	// as the case says: true
}

// Any scenario can be run from Go.
func ExampleCase_Simulate() {
	s, err := scenarios.Find("crash-restart") // or scenarios.Load, for a file
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := cases.Case{Scenario: s, Seed: 7}.Simulate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checker.Lease.Title(), "is", report.Finding(checker.Lease).Verdict)
	// Output:
	// lease exclusion is violated
}
