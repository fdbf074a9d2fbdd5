package runner_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// logs runs seeds 1 to n of a scenario and gives each history to look.
func logs(t *testing.T, name string, n uint64, look func(t *testing.T, log history.Log)) {
	t.Helper()
	s := find(t, name)
	for seed := uint64(1); seed <= n; seed++ {
		var log history.Log
		if _, err := runner.Run(t.Context(), simulator, s, seed, &log); err != nil {
			t.Fatal(err)
		}
		look(t, log)
	}
}

// happened returns when a client had events of a kind.
func happened(log history.Log, client int, kind history.Kind) []history.Time {
	var all []history.Time
	for _, e := range log {
		if e.Client == client && e.Kind == kind {
			all = append(all, e.Time)
		}
	}
	return all
}

// The pause of each point takes place in every run, at the step that it names, and
// is over while the rival still works, where it had to wait for the holder's keys.
func TestEveryBoundaryIsReached(t *testing.T) {
	waited := false // the holder's keys were set before it stood still
	for _, p := range findSeries(t, "check-then-write").Points {
		waited = waited || p.Value == "reply-1"
		freed := p.Value == "released"
		logs(t, p.Name, 20, func(t *testing.T, log history.Log) {
			pauses, resumed := happened(log, 1, history.Pause), happened(log, 1, history.Resume)
			rival, done := happened(log, 2, history.Granted), happened(log, 2, history.Release)
			if len(pauses) != 1 || len(resumed) != 1 || len(rival) != 1 || len(done) != 1 {
				t.Fatalf("%s: paused %v, resumed %v; the rival was granted the lock %v and released it %v", p.Name, pauses, resumed, rival, done)
			}
			if waited && !freed && (rival[0] < pauses[0] || rival[0] > resumed[0] || done[0] < resumed[0]) {
				t.Errorf("%s: paused from %v to %v, but the rival held the lock from %v to %v", p.Name, pauses[0], resumed[0], rival[0], done[0])
			}
		})
	}
}

func findSeries(t *testing.T, name string) scenarios.Series {
	t.Helper()
	all := scenarios.AllSeries()
	i := slices.IndexFunc(all, func(s scenarios.Series) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no series %s", name)
	}
	return all[i]
}

// measurements returns the measurements of 50 runs of a scenario.
func measurements(t *testing.T, name string) (all []checker.Measurements) {
	t.Helper()
	batch := runner.Batch{Experiment: prepared(t, simulator, find(t, name)), First: 1, Runs: 50, Each: func(r runner.Result) {
		all = append(all, r.Report.Measurements)
	}}
	if _, err := batch.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all
}

// rounds is how often each client has tried, in the mean, up to the first grant, in
// the median of some runs. (Tries that are short follow each other so closely that
// the measurement of rounds takes several for one.)
func rounds(t *testing.T, name string) int {
	var tries []int
	logs(t, name, 49, func(_ *testing.T, log history.Log) {
		n := 0
		for _, e := range log {
			if e.Kind == history.Granted {
				break
			}
			if e.Kind == history.Acquire {
				n++
			}
		}
		tries = append(tries, n)
	})
	slices.Sort(tries)
	return tries[len(tries)/2] / len(find(t, name).Clients)
}

// The more random the delay, compared with the time to acquire, the fewer rounds a split vote
// costs. A client that asks one node after another finds no split here.
func TestRoundsOfASplitVote(t *testing.T) {
	little, some, much := rounds(t, "split-vote-jitter-200us"), rounds(t, "split-vote-jitter-1ms"), rounds(t, "split-vote-jitter-50ms")
	if little < 5*some || some < 2*much || much > 2 {
		t.Errorf("a split vote takes %d rounds of tries with delays that differ by 200 µs, %d by 1 ms and %d by 50 ms; want five times fewer, then twice fewer, and at most 2 (lockstorm debate split-vote)", little, some, much)
	}
	if n := rounds(t, "split-vote-fixed-50ms-in-turn"); n != 1 {
		t.Errorf("who asks one node after another takes %d rounds, want 1: lockstorm run split-vote-fixed-50ms-in-turn", n)
	}
}

// A holder that dies blocks the lock for the TTL.
func TestDeadHolderBlocksForTheTTL(t *testing.T) {
	for _, p := range findSeries(t, "ttl-too-short").Points {
		ttl := p.Lock.TTL
		for _, m := range measurements(t, p.Name) {
			// It died 20 ms after it had read, and tries come every 80 ms.
			if blocked := m.NextGrantAfterDeath; m.HolderDeaths != 1 || blocked < ttl-40*ms || blocked > ttl+100*ms {
				t.Errorf("%d holders died, want 1, and the lock was blocked for %v, want about its TTL of %v: lockstorm run %s", m.HolderDeaths, blocked, ttl, p.Name)
			}
		}
	}
}

// All five nodes together lose a hold far less often than one of them.
func TestSingleNodeLosesMoreHolds(t *testing.T) {
	lost := map[string]int{}
	for _, name := range []string{"single-vs-redlock-single-node", "single-vs-redlock-redlock"} {
		grants := 0
		batch := runner.Batch{Experiment: prepared(t, simulator, find(t, name)), First: 1, Runs: 100, Each: func(r runner.Result) {
			lost[name] += r.Report.Finding(checker.Lease).Count
			grants += r.Report.Measurements.Grants
		}}
		if _, err := batch.Run(t.Context()); err != nil || grants != 100*3*20 {
			t.Fatalf("%s: %d grants in 100 runs, want %d: somebody was not granted the lock (%v)", name, grants, 100*3*20, err)
		}
	}
	if one, five := lost["single-vs-redlock-single-node"], lost["single-vs-redlock-redlock"]; five == 0 || one < 5*five {
		t.Errorf("a single node violates lease exclusion %d times and five nodes %d times in 100 runs; want some with five, and five times as many with one (lockstorm debate single-vs-redlock)", one, five)
	}
}
