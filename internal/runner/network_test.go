package runner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
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

// reached is the number of grants of a client while a fault of the plan lasts.
func reached(log history.Log, client int) (during int) {
	var from, to history.Time
	for _, e := range log {
		switch e.Kind {
		case history.FaultStart:
			from = e.Time
		case history.FaultEnd:
			to = e.Time
		}
	}
	for _, at := range happened(log, client, history.Granted) {
		if from < at && at < to {
			during++
		}
	}
	return during
}

// While a client reaches a minority only it is granted nothing, and afterwards it
// is again; who reaches a majority goes on.
func TestPartitionsOfAMajority(t *testing.T) {
	for name, without := range map[string][]int{
		"majority-partition":            {1, 2, 3},
		"majority-partition-one-way":    {1, 2, 3},
		"majority-partition-per-client": {1},
		"majority-partition-bridge":     {1},
		"minority-partition":            {},
		"minority-partition-one-way":    {},
		"minority-partition-per-client": {},
	} {
		t.Run(name, func(t *testing.T) {
			logs(t, name, 20, func(t *testing.T, log history.Log) {
				for client, c := range find(t, name).Clients {
					client++
					if in := reached(log, client); (in == 0) != slices.Contains(without, client) {
						t.Errorf("client %d was granted the lock %d times during the partition, want %s: lockstorm run %s", client, in, map[bool]string{true: "never", false: "some time"}[slices.Contains(without, client)], name)
					}
					if all := len(happened(log, client, history.Granted)); all != c.Rounds {
						t.Errorf("client %d was granted the lock %d times in all, want all its %d rounds when the partition is over: lockstorm run %s", client, all, c.Rounds, name)
					}
				}
			})
		})
	}
}

// Each time a holder is cut off before it can release, the lock is blocked for the rest of a TTL.
// (Healing can cost another TTL: requests that set keys may arrive after those that delete them.)
func TestPartitionAfterAcquire(t *testing.T) {
	for name, cuts := range map[string]int{"partition-after-acquire": 1, "partition-after-acquire-many": 4} {
		logs(t, name, 20, func(t *testing.T, log history.Log) {
			var cut []history.Time
			for _, e := range log {
				switch {
				case e.Kind == history.FaultStart:
					cut = append(cut, e.Time)
				case e.Kind == history.Granted && len(cut) > 0 && cut[len(cut)-1] > 0:
					if blocked := e.Time.Sub(cut[len(cut)-1]); blocked < 900*ms || blocked > 1500*ms {
						t.Errorf("the holder was cut off before it could release, and the lock was blocked for %v, want about a TTL of 1 s: lockstorm run %s", blocked, name)
					}
					cut[len(cut)-1] = 0 // done with
				}
			}
			if len(cut) != cuts {
				t.Errorf("the holder was cut off %d times, want %d: lockstorm run %s", len(cut), cuts, name)
			}
		})
	}
}

// Law: the verdicts of the debate do not depend on how requests travel. The rows
// themselves use batches, as package redisnode does.
func TestDebateDoesNotDependOnTheTransport(t *testing.T) {
	for _, c := range []nemesis.Connections{{}, {Pipelined: true}} {
		for _, s := range scenarios.All() {
			s.Connections = c
			tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: 20}.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if tally.Conclusion() != runner.AsExpected {
				t.Errorf("%s over %+v: expected %v, seen %v", s.Name, c, s.Expect, tally.Seen)
			}
		}
	}
}
