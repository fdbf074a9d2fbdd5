package cases_test

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/cases"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

// A saved case is loaded, and run again.
func ExampleLoad() {
	c, err := cases.Load("../testdata/cases/redlock-lease-crash-restart.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := c.Run(context.Background(), simulated.Backend(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Property.Title(), "is", r.Report.Finding(c.Property).Verdict)
	fmt.Println("as the case says:", c.Judge(r) == runner.AsExpected)
	// Output:
	// lease exclusion is violated
	// as the case says: true
}
