package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: nothing that a network does between clients and nodes makes the lock
// break its word, however requests travel.
func TestLockHoldsOverBadNetworks(t *testing.T) {
	some := nemesis.Links{Nodes: []int{1, 2, 3}}
	faults := []nemesis.Action{
		&nemesis.Loss{Percent: 40, RTO: 5 * ms},
		&nemesis.Reset{Links: some, Way: nemesis.Replies},
		&nemesis.Reset{Links: some},
		&nemesis.Bandwidth{BytesPerSecond: 20_000},
		&nemesis.Split{Groups: []nemesis.Group{{Clients: []int{1}, Nodes: []int{1, 2, 3}}, {Clients: []int{2, 3}, Nodes: []int{3, 4, 5}}}},
	}
	for _, c := range []nemesis.Connections{{}, {Limit: 1}, {Limit: 3}, {Pipelined: true}, {Batched: true}} {
		for _, f := range faults {
			s := find(t, "calm")
			s.Connections = c
			s.Plan = nemesis.Plan{{Action: f, Start: nemesis.At(100 * ms), End: nemesis.After(2 * time.Second)}}
			for seed := range uint64(5) {
				r, err := runner.Run(context.Background(), simulator, s, seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				verdicts := r.Report.Verdicts()
				if verdicts[checker.Lease] != checker.Holds || verdicts[checker.Contract] != checker.Holds || r.Report.Measurements.Grants == 0 {
					t.Errorf("in calm, seed %d, over connections %+v, while %v: want lease exclusion and contract to hold and some grants, seen %v and %d grants", seed, c, f, verdicts, r.Report.Measurements.Grants)
				}
			}
		}
	}
}

// Law: the verdicts of the debate do not depend on how requests travel. The rows
// themselves use batches, as package redisnode does.
func TestDebateDoesNotDependOnTheTransport(t *testing.T) {
	for _, c := range []nemesis.Connections{{}, {Pipelined: true}} {
		for _, s := range scenarios.All() {
			s.Connections = c
			if tally := runs(t, s, 3); tally.Conclusion() == runner.Contradiction {
				t.Errorf("%s over %+v: expected %v, seen %v", s.Name, c, s.Expect, tally.Seen)
			}
		}
	}
}
