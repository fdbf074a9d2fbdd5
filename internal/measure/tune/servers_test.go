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
				s.RestartDelay = m.restartDelay(s)
				list := m.onServers(s)
				if len(list) != 2 {
					t.Fatalf("%d scenarios", len(list))
				}
				for i, want := range []int{0, 5} { // violations in 5 runs
					b := batch{simulated.Backend(), 1, func() {}}
					tally, _, err := b.run(t.Context(), 5, func(rng) scenarios.Scenario { return list[i].Scenario })
					if err != nil {
						t.Fatal(err)
					}
					if got := tally.Rate(checker.Lease); got != (runner.Rate{K: want, N: 5}) || tally.Conclusion() != runner.AsExpected {
						t.Errorf("%s on %d nodes with %s, extended every %v: %v violated, want %d; %v", list[i].Name, nodes, persistence, extend, got, want, tally.Conclusion())
					}
					if tally.UntriedReturns > 0 {
						t.Errorf("%s on %d nodes with %s: in %d of 5 runs nobody tried to acquire after the return", list[i].Name, nodes, persistence, tally.UntriedReturns)
					}
				}
			}
		}
	}
}

// A given restart delay that is too short is no reason to expect anything.
func TestScenarioForServersOfAShortDelay(t *testing.T) {
	q := small()
	q.Crashes.RestartDelay = ptr(100 * ms)
	s := Setting{TTL: 300 * ms, DriftFactor: 0.05, NodeTimeout: 5 * ms, RetryMin: ms, RetryMax: 5 * ms, RestartDelay: 100 * ms}
	if one := newModel(q.Known).onServers(s)[0]; one.Expect != nil {
		t.Errorf("%s expects %v", one.Comment, one.Expect)
	}
}
