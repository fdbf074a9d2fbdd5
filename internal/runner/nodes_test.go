package runner_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// An extension that was not synced is lost with the power: the key is still
// there, and expires when it would have without.
func TestLostExtensionRestoresTheOldExpiry(t *testing.T) {
	s := find(t, "aof-everysec-extension")
	for seed := uint64(1); seed <= 50; seed++ {
		var log history.Log
		r, err := runner.Run(context.Background(), simulator, s, seed, &log)
		if err != nil {
			t.Fatal(err)
		}
		rolledBack := slices.ContainsFunc(log, func(e history.Event) bool { return e.Kind == history.KeyGone && e.Reason == "rolled back" })
		if rolledBack && r.Report.Finding(checker.Lease).Verdict == checker.Violated {
			t.Errorf("seed %d: the key itself was lost", seed)
		}
	}
}

// While a majority is away nobody gets the lock; afterwards somebody does.
func TestMajorityCrashCostsTheDelay(t *testing.T) {
	const work, think, retry = 20 * ms, 60 * ms, 80 * ms
	s := find(t, "majority-crash")
	delay := *s.Plan[0].End.After
	for seed := uint64(1); seed <= 50; seed++ {
		if got := outage(t, s, seed); got < delay-work-think || got > delay+2*retry {
			t.Errorf("a majority was away for %v, and nobody held the lock for %v: lockstorm run majority-crash --seed %d", delay, got, seed)
		}
	}
}

// A node whose clock steps back keeps the key of a holder who has died for so
// much longer.
func TestOrphanLivesLongerByTheStep(t *testing.T) {
	const slack = 200 * ms // retries, and a failed try that meets another's keys
	s := find(t, "node-clock-back-orphan")
	alone := s
	alone.Plan = s.Plan[:2]
	step := -s.Plan[2].Action.(*nemesis.ClockJump).By
	for seed := uint64(1); seed <= 50; seed++ {
		if got := outage(t, s, seed) - outage(t, alone, seed); got < step-slack || got > step+slack {
			t.Errorf("a clock that steps back by %v should keep the dead holder's key for so much longer, but the lock comes later by %v: lockstorm run node-clock-back-orphan --seed %d", step, got, seed)
		}
	}
}

func outage(t *testing.T, s scenarios.Scenario, seed uint64) time.Duration {
	t.Helper()
	return measurementsOf(t, s, seed).LongestOutage
}

func measurementsOf(t *testing.T, s scenarios.Scenario, seed uint64) checker.Measurements {
	t.Helper()
	r, err := runner.Run(context.Background(), simulator, s, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Report.Measurements
}

// On a node whose clock stands still the key of a holder who has died never
// expires; on the others it does.
func TestOrphansOfAFrozenClockNeverExpire(t *testing.T) {
	s := find(t, "frozen-clock")
	for seed := uint64(1); seed <= 20; seed++ {
		var log history.Log
		if _, err := runner.Run(context.Background(), simulator, s, seed, &log); err != nil {
			t.Fatal(err)
		}
		keys := map[int]string{} // by node
		dead := ""
		for _, e := range log {
			switch e.Kind {
			case history.Granted:
				if e.Client == 1 {
					dead = e.Token
				}
			case history.KeySet:
				keys[e.Node] = e.Token
			case history.KeyGone:
				delete(keys, e.Node)
			}
		}
		if len(keys) != 1 || keys[3] != dead {
			t.Errorf("seed %d: at the end there are the keys %v, and %s is the dead holder's", seed, keys, dead)
		}
	}
}

// A node that syncs before it answers makes every acquisition wait for its disk.
func TestSyncingCostsLatency(t *testing.T) {
	s := find(t, "aof-always")
	quick := s
	quick.Sync = nil
	for seed := uint64(1); seed <= 20; seed++ {
		slow, fast := measurementsOf(t, s, seed).AcquireP50, measurementsOf(t, quick, seed).AcquireP50
		if slow < fast+s.Sync.Min {
			t.Errorf("seed %d: acquired in %v with a slow disk, in %v without", seed, slow, fast)
		}
	}
}

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

// The story names the pair of grants: those whose quorums had counted to the same
// number, and those before and after the loss.
func TestStoryOfFencesThatDoNotGrow(t *testing.T) {
	for name, wants := range map[string][]string{
		"fence-increment":     {"client 2", "client 3", "fence 2"},
		"fence-one-node-lost": {"client 1", "client 2", "fence 1"},
		"fence-after-loss":    {"client 1", "client 2", "fence 1"},
	} {
		got := runs(t, find(t, name), 1).First[checker.Fence].Report.Finding(checker.Fence).Story()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
	}
}

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
