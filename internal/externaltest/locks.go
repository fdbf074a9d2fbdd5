// Package externaltest has what tests of stores of locktest and of adapters have in common: storms in
// which a correct lock keeps its promises and a wrong one breaks them, and a test that has to fail.
package externaltest

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ttl is the shortest that every store can have.
const ttl = time.Second

// config returns the configuration of both tests.
func config(t *testing.T, store locktest.Store) locktest.Config {
	return locktest.Config{
		Backend: locktest.Process, Store: store, Clients: 2, TTL: ttl, Rounds: 4, Dir: t.TempDir(),
		Patience: time.Minute, // longer than any election
	}
}

// cutOff is a storm in which the holder is cut off from the store until the other client has the
// lock. Work under the lock is longer than that can take. Both die then, so the storm takes as
// long as the lock lasts, however slow the machine is.
func cutOff() locktest.Storm {
	granted := func(client int, plus time.Duration) nemesis.Trigger {
		return nemesis.When(client, env.StepGranted, plus)
	}
	first := granted(1, 0)
	cut := func(client int) nemesis.Action {
		return &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}}}
	}
	return locktest.Storm{
		Name: "holder-cut-off", Work: 10 * time.Minute,
		Plan: nemesis.Plan{
			{Action: cut(2), Start: nemesis.At(0), End: &first}, // so that client 1 is the first holder
			{Action: cut(1), Start: granted(1, 0)},
			{Action: &nemesis.Kill{Client: 1}, Start: granted(2, 100*time.Millisecond)},
			{Action: &nemesis.Kill{Client: 2}, Start: granted(2, 100*time.Millisecond)},
		},
	}
}

// leaderDown is a storm in which the first leader is killed during a hold, and is back later.
func leaderDown() locktest.Storm {
	return locktest.Storm{
		Name: "leader-down",
		Plan: nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, env.StepGranted, 0), End: nemesis.After(2 * ttl)}},
	}
}

// Correct tests that a correct lock keeps its promises.
func Correct(t *testing.T, store locktest.Store, open func(locktest.Env) locktest.Locker) {
	t.Helper()
	c := config(t, store)
	c.Storms = []locktest.Storm{{Name: "calm"}, leaderDown(), cutOff()}
	locktest.Run(t, c, open)
}

// decidedRuns is in how many runs a wrong lock may go unnoticed. runs is with those for which the
// machine was too slow.
const (
	decidedRuns = 2
	runs        = 6
)

// Wrong tests that a lock which does not notice the end of its hold breaks V1, and that nothing
// excuses it.
func Wrong(t *testing.T, store locktest.Store, open func(locktest.Env) locktest.Locker) {
	t.Helper()
	c := config(t, store)
	c.Storms, c.Runs = []locktest.Storm{cutOff()}, runs
	found, decided := false, 0
	locktest.Survey(t, c, open, func(t *testing.T, seen locktest.Seen) bool {
		if seen.Slipped() {
			t.Logf("seed %d: the machine was too slow to tell", seen.Seed)
			return true
		}
		decided++
		f := seen.Report.Finding(checker.Lease)
		if found = f.Verdict == checker.Violated; found {
			t.Log(f.Story())
			if why := seen.Beyond(checker.Lease); why != nil {
				t.Errorf("it is excused: %v", why)
			}
		}
		return !found && decided < decidedRuns
	})
	if !found && decided > 0 {
		t.Errorf("V1 is not violated in %d runs", decided)
	}
}
