package tune

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The scenarios for real servers do in the simulator what they must do there: the setting holds, and
// its control does not. In both somebody tries to acquire after the nodes' return.
func TestScenariosForServersShowWhatTheyMust(t *testing.T) {
	for _, persistence := range nemesis.Persistences {
		for _, nodes := range []int{1, 3, 4, 5} {
			for _, extend := range []time.Duration{0, 100 * ms} {
				q := small()
				q.Nodes, q.Crashes.Persistence = nodes, persistence
				m, s := newModel(q.Known), Setting{TTL: 300 * ms, DriftFactor: 0.05, NodeTimeout: 5 * ms, RetryMin: ms, RetryMax: 5 * ms, ExtendEvery: extend}
				if m.forgets() {
					s.RestartDelay = m.Clocks.RestartDelay(s.TTL)
				}
				restart, control := m.onServers(s)
				for _, c := range []struct {
					scenarios.Scenario
					want int // violations in 5 runs
				}{{restart, 0}, {control, 5}} {
					b := batch{simulated.Backend(), 1, func() {}}
					tally, _, err := b.run(t.Context(), 5, func(rng) scenarios.Scenario { return c.Scenario })
					if err != nil {
						t.Fatal(err)
					}
					if got := tally.Rate(checker.Lease); got != (runner.Rate{K: c.want, N: 5}) || tally.Conclusion() != runner.AsExpected {
						t.Errorf("%s on %d nodes with %s, extended every %v: %v violated, want %d; %v", c.Name, nodes, persistence, extend, got, c.want, tally.Conclusion())
					}
					if tally.UntriedReturns > 0 {
						t.Errorf("%s on %d nodes with %s: in %d of 5 runs nobody tried to acquire after the return", c.Name, nodes, persistence, tally.UntriedReturns)
					}
				}
			}
		}
	}
}
