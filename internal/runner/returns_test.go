package runner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// What a row, or one of its cures, says of a node's return is said of runs in which clients try to
// acquire after it. In a run in ten the competitor is first, and then nobody is left.
func TestNodesOfRowsReturn(t *testing.T) {
	for _, r := range rows() {
		list := []scenarios.Scenario{r.Scenario}
		if r.Name != "fence-one-node-down" { // whose cures are about what works while the node is down
			for _, c := range r.Cures {
				list = append(list, altered(t, r.Scenario, c.Apply))
			}
		}
		for _, s := range list {
			if !slices.ContainsFunc(s.Plan, func(f nemesis.Fault) bool { return f.BringsBack() }) {
				continue
			}
			tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: 12}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tally.UntriedReturns > tally.Runs/4 {
				t.Errorf("%s, plan %v: in %d of %d runs nobody tried to acquire after the return of a node", s.Name, s.Plan, tally.UntriedReturns, tally.Runs)
			}
		}
	}
}

// A run that ends before a crashed node is back leaves the return untried, unless the node was not to come
// back, or was never down.
func TestUntriedReturnsAreCounted(t *testing.T) {
	crash := func(a nemesis.Action, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: start, End: end}
	}
	now, never := nemesis.At(10*time.Millisecond), nemesis.When(1, env.StepLost, 0)
	for name, c := range map[string]struct {
		fault nemesis.Fault
		want  bool
	}{
		"back too late":         {crash(&nemesis.Crash{Node: 3}, now, nemesis.After(time.Minute)), true},
		"delayed too long":      {crash(&nemesis.PowerLoss{Node: 3, RestartDelay: time.Minute}, now, nil), true},
		"back in time":          {crash(&nemesis.Crash{Node: 3}, now, nemesis.After(100*time.Millisecond)), false},
		"down for good":         {crash(&nemesis.Crash{Node: 3}, now, nil), false},
		"never down":            {crash(&nemesis.Crash{Node: 3}, never, nemesis.After(time.Minute)), false},
		"not able to come back": {crash(&nemesis.PowerLoss{Node: 3, TornTail: nemesis.TornRefuse}, now, nil), false},
		"cut off too long":      {crash(&nemesis.Partition{Links: nemesis.Links{Nodes: []int{3}}}, now, nemesis.After(time.Minute)), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := find(t, "calm")
			s.Expect, s.Persistence, s.Horizon = nil, nemesis.Always, 2*time.Minute
			s.Plan = nemesis.Plan{c.fault}
			tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: 1}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := tally.UntriedReturns == 1; got != c.want {
				t.Errorf("untried: %v", got)
			}
		})
	}
}
