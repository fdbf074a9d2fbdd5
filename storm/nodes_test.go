package storm_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// granted is shortly after client 1 has got the lock.
var granted = nemesis.When(1, env.StepGranted, 20*ms)

// struck is crash-restart, in which client 1 holds just nodes 1, 2 and 3, with
// other faults in the place of the crash.
func struck(t *testing.T, change func(*scenarios.Scenario), faults ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "crash-restart")
	s.Plan = append(nemesis.Plan{s.Plan[0]}, faults...)
	if change != nil {
		change(&s)
	}
	return s
}

func at(m nemesis.Moment, a nemesis.Action, end *nemesis.Moment) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: m, End: end}
}

func keeping(p nemesis.Persistence) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Persistence = p }
}

func replicating(lag time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: lag, Max: lag}}
	}
}

// The rows of the debate on what a node loses. Each comes with a control that
// differs in the cause alone, and has the other verdict.
func TestWhatNodesLose(t *testing.T) {
	const soon, late = 300 * ms, 1100 * ms
	after := nemesis.After
	majority := func(a func(node int) nemesis.Action) []nemesis.Fault {
		var all []nemesis.Fault
		for node := 1; node <= 3; node++ {
			all = append(all, at(granted, a(node), nil))
		}
		return all
	}
	powerLoss := at(granted, &nemesis.PowerLoss{Node: 3}, after(0))
	shutdown := at(granted, &nemesis.Shutdown{Node: 3}, after(soon))
	failover := at(granted, &nemesis.Failover{Node: 3}, after(0))
	delayed := at(granted, &nemesis.Crash{Node: 3, RestartDelay: late}, nil)
	jump := at(nemesis.When(1, env.StepGranted, 100*ms), &nemesis.ClockJump{Machine: nemesis.Machine{Node: 3}, By: 2 * time.Second}, nil)

	for _, c := range []struct {
		row     string
		run     scenarios.Scenario
		want    checker.Verdict
		cause   string
		control scenarios.Scenario
	}{
		{
			"aof-everysec", struck(t, keeping(nemesis.EverySecond), powerLoss), checker.Violated,
			"the process dies and not the machine", struck(t, keeping(nemesis.EverySecond), at(granted, &nemesis.Crash{Node: 3}, after(0))),
		},
		{
			"aof-always", struck(t, keeping(nemesis.Always), powerLoss), checker.Holds,
			"no persistence", struck(t, keeping(nemesis.Nothing), powerLoss),
		},
		{
			"aof-always, and a slow disk", struck(t, func(s *scenarios.Scenario) {
				s.Persistence = nemesis.Always
				s.Sync = &nemesis.Distribution{Range: nemesis.Range{Min: 2 * ms, Max: 10 * ms}}
			}, powerLoss), checker.Holds,
			"no persistence", struck(t, keeping(nemesis.Nothing), powerLoss),
		},
		{
			"clean-shutdown", struck(t, keeping(nemesis.EverySecond), shutdown), checker.Holds,
			"no persistence", struck(t, keeping(nemesis.Nothing), shutdown),
		},
		{
			"failover", struck(t, replicating(100*ms), failover), checker.Violated,
			"a replica that is nearly in step", struck(t, replicating(ms), failover),
		},
		{
			"evicted-key", struck(t, nil, at(granted, &nemesis.Evict{Node: 3}, nil)), checker.Violated,
			"a node that has no key", struck(t, nil, at(granted, &nemesis.Evict{Node: 5}, nil)),
		},
		{
			"old-snapshot", struck(t, nil, at(granted, &nemesis.OldSnapshot{Node: 3, Age: 50 * ms}, after(0))), checker.Violated,
			"a snapshot of just now", struck(t, nil, at(granted, &nemesis.OldSnapshot{Node: 3, Age: ms}, after(0))),
		},
		{
			"node-pause", struck(t, nil, at(granted, &nemesis.NodePause{Node: 3}, after(soon))), checker.Holds,
			"a node that dies", struck(t, nil, at(granted, &nemesis.Crash{Node: 3}, after(soon))),
		},
		{
			"node-pause, past the TTL", struck(t, nil, at(granted, &nemesis.NodePause{Node: 3}, after(late))), checker.Holds,
			"a node that dies", struck(t, nil, at(granted, &nemesis.Crash{Node: 3}, after(soon))),
		},
		{
			"delayed-restart-jump", struck(t, nil, delayed, jump), checker.Violated,
			"no jump", struck(t, nil, delayed),
		},
		{
			"majority-crash", struck(t, nil, majority(func(n int) nemesis.Action { return &nemesis.Crash{Node: n, RestartDelay: late} })...), checker.Holds,
			"no delay", struck(t, nil, majority(func(n int) nemesis.Action { return &nemesis.Crash{Node: n, RestartDelay: ms} })...),
		},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			other := checker.Holds
			if c.want == checker.Holds {
				other = checker.Violated
			}
			observe(t, c.row, c.run, c.want)
			observe(t, c.cause, c.control, other)
		})
	}
}

// observe runs a scenario and compares what becomes of exclusion. The contract
// of the lock holds whatever the nodes lose.
func observe(t *testing.T, what string, s scenarios.Scenario, want checker.Verdict) {
	t.Helper()
	tally := runs(t, s, 100)
	if got := tally.Observed(checker.Lease); got != want {
		t.Errorf("%s: %s is %v, want %v: %v", what, checker.Lease, got, want, tally.Seen)
	}
	if got := tally.Observed(checker.Contract); got != checker.Holds {
		t.Errorf("%s: %s is %v: %s", what, checker.Contract, got, tally.First[checker.Contract].Report.Finding(checker.Contract).Story)
	}
}

// An extension that was not synced is lost with the power: the key is still
// there, and expires when it would have without.
func TestLostExtensionRestoresTheOldExpiry(t *testing.T) {
	s := struck(t, func(s *scenarios.Scenario) {
		s.Persistence = nemesis.EverySecond
		holder, rival := s.Clients[0], s.Clients[1]
		holder.Work = nemesis.Range{Min: 1500 * ms, Max: 1500 * ms}
		holder.ExtendEvery = 600 * ms
		rival.Start = nemesis.Range{Min: 900 * ms, Max: 1000 * ms}
		s.Clients = []scenarios.Client{holder, rival}
	}, at(nemesis.When(1, env.StepExtended, 20*ms), &nemesis.PowerLoss{Node: 3}, nemesis.After(0)))
	shown := 0
	for seed := uint64(1); seed <= 50; seed++ {
		var log history.Log
		r, err := storm.Run(context.Background(), simulator, s, seed, &log)
		if err != nil {
			t.Fatal(err)
		}
		stayed := !slices.ContainsFunc(log, func(e history.Event) bool { return e.Kind == history.KeyGone && e.Reason == "rolled back" })
		if stayed && r.Report.Finding(checker.Lease).Verdict == checker.Violated {
			shown++
		}
	}
	if shown == 0 {
		t.Error("no run violates V1 in which the key stayed")
	}

	s.Persistence = nemesis.Always
	observe(t, "a disk that is synced at once", s, checker.Holds)
}

// While a majority is away nobody gets the lock; afterwards somebody does.
func TestMajorityCrashCostsTheDelay(t *testing.T) {
	const delay, think = 1500 * ms, 600 * ms
	s := find(t, "minority-partition")
	s.Plan = nil
	for node := 1; node <= 3; node++ {
		s.Plan = append(s.Plan, at(nemesis.At(500*ms), &nemesis.Crash{Node: node, RestartDelay: delay}, nil))
	}
	for seed := uint64(1); seed <= 20; seed++ {
		r, err := storm.Run(context.Background(), simulator, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Report.Measurements.LongestOutage; got < delay-think || got > delay+200*ms {
			t.Errorf("seed %d: an outage of %v", seed, got)
		}
	}
}

// Law: whatever its nodes lose, the lock tells the truth: nobody's key is
// deleted, and extend and release say what is so. And it is to be had wherever
// a quiet majority does its work. The same seed shows the same again.
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
		r, err := storm.Run(context.Background(), simulator, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := storm.Run(context.Background(), simulator, s, seed, nil); again.TraceHash != r.TraceHash {
			t.Fatal("the same seed gives another trace")
		}
		if f := r.Report.Finding(checker.Contract); f.Verdict != checker.Holds {
			t.Fatalf("%v: %s", f.Verdict, f.Story)
		}
		if f := r.Report.Finding(checker.FaultTolerance); f.Verdict == checker.Violated {
			t.Fatal(f.Story)
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
