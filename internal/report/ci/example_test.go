package ci_test

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/report/ci"
)

func Example() {
	r := ci.Report{Suites: []ci.Suite{{Name: "cases", Checks: []ci.Check{
		{Name: "one.yaml", Outcome: ci.AsExpected},
		{Name: "two.yaml", Outcome: ci.Contradiction, Summary: "lease exclusion is violated, but the case says holds", Command: "lockstorm replay two.yaml"},
	}}}}
	for s, c := range r.Of(ci.Contradiction) {
		fmt.Printf("%s, %s: %s\n", s.Name, c.Name, c.Headline())
	}
	fmt.Println(r.Conclusion())
	// Output:
	// cases, two.yaml: lease exclusion is violated, but the case says holds. Again: lockstorm replay two.yaml
	// contradiction
}
