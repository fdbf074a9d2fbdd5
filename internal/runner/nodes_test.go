package runner_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: whatever its nodes lose, the lock reports the truth: it deletes nobody else's key, and the
// results of extend and release are correct. And it can be acquired wherever a quiet majority
// works. The same seed repeats the run.
func TestContractHoldsWhateverNodesLose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Bounds.Tries = 3
		s.Persistence = rapid.SampledFrom([]nemesis.Persistence{nemesis.Nothing, nemesis.EverySecond, nemesis.Always}).Draw(t, "persistence")
		s.Sync = &nemesis.Distribution{Range: nemesis.Range{Max: time.Duration(rapid.IntRange(0, 10).Draw(t, "sync")) * ms}}
		s.Replication = &nemesis.Distribution{Range: nemesis.Range{Max: time.Duration(rapid.IntRange(0, 200).Draw(t, "lag")) * ms}}
		for node := 1; node <= s.Nodes; node++ {
			s.Plan = append(s.Plan, losses(t, node)...)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		r, err := runner.Run(context.Background(), simulator, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := runner.Run(context.Background(), simulator, s, seed, nil); again.TraceHash != r.TraceHash {
			t.Fatal("the same seed gives another trace")
		}
		if f := r.Report.Finding(checker.Contract); f.Verdict != checker.Holds {
			t.Fatalf("%v: %s", f.Verdict, f.Story())
		}
		if f := r.Report.Finding(checker.FaultTolerance); f.Verdict == checker.Violated {
			t.Fatal(f.Story())
		}
	})
}

// losses draws what happens to a node, one thing after another.
func losses(t *rapid.T, node int) (plan nemesis.Plan) {
	from := time.Duration(0)
	for range rapid.IntRange(0, 4).Draw(t, "faults") {
		from += time.Duration(rapid.IntRange(1, 800).Draw(t, "quiet")) * ms
		length := time.Duration(rapid.IntRange(0, 300).Draw(t, "length")) * ms
		f := nemesis.Fault{Start: nemesis.At(from), End: nemesis.After(length)}
		switch rapid.IntRange(1, 9).Draw(t, "kind") {
		case 1:
			f.Action = &nemesis.Crash{Node: node}
		case 2:
			f.Action = &nemesis.PowerLoss{Node: node}
		case 3:
			f.Action = &nemesis.Shutdown{Node: node}
		case 4:
			f.Action = &nemesis.Failover{Node: node}
		case 5:
			f.Action = &nemesis.OldSnapshot{Node: node, Age: 1 + length}
		case 6:
			f.Action = &nemesis.NodePause{Node: node}
		case 7:
			f.Action = &nemesis.NodeError{Nodes: []int{node}, Error: rapid.SampledFrom([]nemesis.ErrorName{nemesis.Loading, nemesis.OOM, nemesis.ReadOnly}).Draw(t, "error")}
		case 8:
			f.Action, f.End = &nemesis.Evict{Node: node}, nil
		case 9:
			f.Action, f.End = &nemesis.ScriptFlush{Node: node}, nil
		}
		plan = append(plan, f)
		from += length
	}
	return plan
}

var orphanPlans = flag.Int("plans", 700, "how many plans are drawn for each transport that must leave no key behind")

// Law: no try and no release leaves a key on a node that was in reach, however requests travel and whatever else
// happens, as long as no request comes twice and no two clients draw the same token (the row duplicate-set breaks
// it). Where connections keep the order of requests the lock sees to that. Otherwise a SET can overtake the delete,
// and over the transport that is shipped a delete its SET as well: no plan is known in which the second delete does
// not help.
func TestNoOrphans(t *testing.T) {
	for _, c := range []nemesis.Connections{{Pipelined: true}, {}, {Batched: true}} {
		noOrphans(t, c, *orphanPlans)
	}
}

func noOrphans(t *testing.T, c nemesis.Connections, plans int) {
	t.Helper()
	s := runner.WithGenerator(brief(t), nemesis.Generator{Faults: nemesis.Weights{"all": 1, "duplicate": 0, "clone": 0}, Most: 6})
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
