package runner_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// everyNode is one fault for each node.
func everyNode(fault func(m nemesis.Machine) nemesis.Fault) (plan []nemesis.Fault) {
	for n := 1; n <= 5; n++ {
		plan = append(plan, fault(nemesis.Machine{Node: n}))
	}
	return plan
}

func story(tally runner.Tally) string {
	if first, ok := tally.First[checker.Lease]; ok {
		return first.Report.Finding(checker.Lease).Story()
	}
	return "no run violates it"
}

// share runs a scenario and returns how many of the runs violate lease exclusion.
func share(t *testing.T, s scenarios.Scenario, n int) float64 {
	t.Helper()
	return float64(runs(t, s, n).Seen[checker.Lease][checker.Violated]) / float64(n)
}

// A holder outlives its keys where (fast + slow) / (1 + fast) is more than the
// allowance has of the TTL, whichever side the error is on; and soon beyond that
// in every run.
func TestDriftFollowsItsFormula(t *testing.T) {
	const reach = 0.006 // of the TTL: what a rival needs, at most, to find keys that have expired
	for _, factor := range []float64{0, 0.01, 0.05} {
		for _, nodes := range []float64{0, 0.5, 1} { // their part of the error
			t.Run(fmt.Sprintf("factor %v, nodes %v", factor, nodes), func(t *testing.T) {
				t.Parallel()
				s := find(t, "clock-drift")
				s.Lock.DriftFactor = factor
				allowance := factor + 0.002
				s.Plan = apart(nodes, allowance-0.0003)
				if got := share(t, s, 20); got > 0 {
					t.Errorf("%v of the runs violate exclusion, and the allowance covers the error", got)
				}
				s.Plan = apart(nodes, allowance+reach)
				if got := share(t, s, 20); got < 1 {
					t.Errorf("only %v of the runs violate exclusion", got)
				}
			})
		}
	}
}

// apart is clocks whose error is such that (fast + slow) / (1 + fast) comes to sum,
// a part of it the nodes'.
func apart(nodes, sum float64) (plan nemesis.Plan) {
	ppm := func(x float64) int64 { return int64(math.Round(x * 1e6)) }
	fast := nodes * sum / (1 - nodes*sum)
	slow := sum*(1+fast) - fast
	if f := ppm(fast); f != 0 {
		plan = append(plan, everyNode(func(m nemesis.Machine) nemesis.Fault {
			return nemesis.Fault{Action: &nemesis.ClockRate{Machine: m, PPM: f}, Start: nemesis.At(0)}
		})...)
	}
	if s := ppm(slow); s != 0 {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -s}, Start: nemesis.At(0)})
	}
	return plan
}
