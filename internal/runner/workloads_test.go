package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// misused is a scenario whose clients use a lock as nobody should.
func misused(t *testing.T, kind string) scenarios.Scenario {
	c := scenarios.Client{Workload: "misuse", Resource: "r", Work: span(5*ms, 50*ms), Think: span(0, 20*ms), Rounds: 5}
	s := inStore(t, kind, c, c)
	if kind == "redlock" || kind == "single-node" {
		s.Lock.Heartbeat = 0
	}
	return s
}

// Law: a client that misuses a lock only gets errors: the lock still excludes and reports the
// truth, and the history is possible.
func TestMisuseIsRefused(t *testing.T) {
	each(t, append([]string{"redlock", "single-node"}, storeLocks...), func(t *testing.T, kind string) {
		s := misused(t, kind)
		wantVerdicts(t, runs(t, s, 30), verdicts{checker.Lease: checker.Holds, checker.Contract: checker.Holds, checker.DeadlockFreedom: checker.Holds})
		if grants := measure(t, s, 30).grants; grants != 300 {
			t.Errorf("%d grants in 30 runs, want 10 in each", grants)
		}
	})
}

// An extension asks for what the client says, and the header for the longest of all.
func TestExtendTTL(t *testing.T) {
	s := alone(t)
	s.Clients[0].ExtendTTL = nemesis.Range{Min: 1500 * ms, Max: 3 * time.Second}
	if got := prepared(t, simulator, s).Header(1); got.LongestTTL != 3*time.Second || got.Allowance != 32*ms {
		t.Errorf("the longest TTL is %v and its allowance %v, want 3s and 32ms", got.LongestTTL, got.Allowance)
	}
	seen := map[time.Duration]bool{}
	for _, e := range record(t, s) {
		if e.Kind == history.Extended {
			seen[e.TTL] = true
			if e.TTL < 1500*ms || e.TTL > 3*time.Second || e.TTL%ms != 0 {
				t.Errorf("extended by %v, want whole milliseconds from 1.5 to 3 s", e.TTL)
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("extended by %v, want another TTL each time", seen)
	}
	s.Clients[0].ExtendTTL = nemesis.Range{Min: 1, Max: ms - 1}
	for _, e := range record(t, s) {
		if e.Kind == history.Extend {
			t.Errorf("an extension by %v was not refused at once", e.TTL)
		}
	}
}

func wantVerdicts(t *testing.T, tally runner.Tally, want map[checker.Property]checker.Verdict) {
	t.Helper()
	for p, want := range want {
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v, want %v: %s", p, got, want, tally.First[p].Report.Finding(p).Story())
		}
	}
}
