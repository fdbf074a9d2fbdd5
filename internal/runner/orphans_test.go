package runner_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var orphanPlans = flag.Int("plans", 10_000, "how many plans are drawn that must leave no key behind; the campaign draws 100,000")

// Law: where connections keep the order of requests, no try and no release leaves
// a key on a node that was in reach, whatever else happens, as long as no request comes
// twice and no two clients draw the same token (the row duplicate-set breaks it).
func TestNoOrphansInOrder(t *testing.T) {
	noOrphans(t, nemesis.Connections{Pipelined: true}, *orphanPlans)
}

// On connections that do not, a SET can overtake the delete. The second delete sees
// to it: no plan is known that leaves a key even so.
func TestNoOrphansOutOfOrder(t *testing.T) {
	noOrphans(t, nemesis.Connections{}, *orphanPlans/4)
}

// Over the transport that is shipped a delete can overtake its SET as well, and a breaker
// decides what is sent at all.
func TestNoOrphansInBatches(t *testing.T) {
	noOrphans(t, nemesis.Connections{Batched: true}, *orphanPlans/4)
}

func noOrphans(t *testing.T, c nemesis.Connections, plans int) {
	t.Helper()
	s := runner.InStorm(brief(t), nemesis.Generator{Faults: nemesis.Weights{"all": 1, "duplicate": 0, "clone": 0}, Most: 6})
	s.Connections = c
	tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: plans}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := tally.Seen[checker.Cleanup]
	if n := seen[checker.Violated]; n > 0 {
		r := tally.First[checker.Cleanup]
		t.Errorf("%d of %d drawn plans leave a key behind, the first with seed %d: %s", n, tally.Runs, r.Seed, r.Report.Finding(checker.Cleanup).Story())
	}
	if seen[checker.Holds] < tally.Runs*9/10 {
		t.Errorf("of %d drawn plans too few could be judged: %v", tally.Runs, seen)
	}
	t.Logf("%v", seen)
}

// brief is a scenario of two clients who lock a few times, for each other's try to
// be refused now and then.
func brief(t *testing.T) scenarios.Scenario {
	s := find(t, "calm")
	s.Lock.TTL, s.Lock.NodeTimeout, s.Lock.Linger, s.Lock.Margin = 300*ms, 20*ms, 60*ms, 20*ms
	s.Lock.Retry = nemesis.Range{Min: 10 * ms, Max: 60 * ms}
	span := func(most time.Duration) nemesis.Range { return nemesis.Range{Max: most} }
	c := scenarios.Client{Workload: "hold", Resource: "r", Work: span(60 * ms), Think: span(60 * ms), Rounds: 3}
	s.Clients = []scenarios.Client{c, c}
	s.Horizon = 3 * time.Second
	return s
}
