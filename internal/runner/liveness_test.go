package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// deadHolder is a scenario in which client 1 dies while it holds the lock on every
// node and client 2 wants it for six seconds: under a plan.
func deadHolder(t *testing.T, plan ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "pause-then-write")
	s.Horizon = 8 * time.Second
	s.Plan = append(nemesis.Plan{{Action: &nemesis.Kill{Client: 1}, Start: nemesis.When(1, env.StepAfterRead, 50*ms)}}, plan...)
	return s
}

// frozen stops the clocks of the first nodes, when the lock has been granted.
func frozen(nodes int, end *nemesis.Trigger) (plan []nemesis.Fault) {
	var heal nemesis.Healing
	if end != nil {
		heal.Heal = nemesis.HealNone
	}
	for n := 1; n <= nodes; n++ {
		freeze := &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: n}, Healing: heal}
		plan = append(plan, nemesis.Fault{Action: freeze, Start: nemesis.When(1, env.StepGranted, 0), End: end})
	}
	return plan
}

// A dead holder's keys expire by their nodes' clocks: where a majority of those
// stand still for ever nobody is granted the lock again. Clocks that go on, or only
// run slow, make it late and no more.
func TestDeadHolder(t *testing.T) {
	slow := everyNode(func(m nemesis.Machine) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockRate{Machine: m, PPM: -700_000}, Start: nemesis.At(0)}
	})
	for name, c := range map[string]struct {
		plan []nemesis.Fault
		want checker.Verdict
	}{
		"no more than that":                     {nil, checker.Holds},
		"the clock of one node stands still":    {frozen(1, nil), checker.Holds},
		"those of three stand still for ever":   {frozen(3, nil), checker.Violated},
		"those of three stand still for 4 s":    {frozen(3, nemesis.After(4*time.Second)), checker.Holds},
		"all take three times as long and more": {slow, checker.Holds},
	} {
		tally := runs(t, deadHolder(t, c.plan...), 30)
		if got := tally.Observed(checker.DeadlockFreedom); got != c.want {
			t.Errorf("%s: %v, want %v: %s", name, got, c.want, tally.First[checker.DeadlockFreedom].Report.Finding(checker.DeadlockFreedom).Story())
		}
	}
}

// An operator's promise is that of the lock: in storms of faults that end, somebody
// is granted the lock in the end.
func TestDeadlockFreedomInStorms(t *testing.T) {
	s := busy(t, 20, "pause", "kill", "partition", "latency", "loss", "reset", "node-pause", "crash", "shutdown", "script-flush", "evict")
	if tally := runs(t, s, 400); tally.Seen[checker.DeadlockFreedom][checker.Violated] > 0 || tally.Seen[checker.DeadlockFreedom][checker.Holds] < 300 {
		t.Errorf("of 400 storms of faults that end want none in which nobody is granted the lock any more, and 300 that can be judged; seen %v: %s", tally.Seen[checker.DeadlockFreedom], tally.First[checker.DeadlockFreedom].Report.Finding(checker.DeadlockFreedom).Story())
	}
}

// A holder that extends without end starves the others, and one with a limit does
// not. L1 says nothing of that: somebody holds the lock.
func TestStarvation(t *testing.T) {
	for _, m := range measurements(t, "endless-extension") {
		if m.Grants != 1 || m.LongestWait < 19*time.Second {
			t.Errorf("a holder who extends without end should keep the others out: %d grants, and the longest wait was %v of 20 s (lockstorm run endless-extension)", m.Grants, m.LongestWait)
		}
	}
	for _, m := range measurements(t, "endless-extension-limited") {
		if m.Grants != 2 || m.LongestWait > 3*time.Second {
			t.Errorf("a limit to extensions should let the other in within 3 s: %d grants, and the longest wait was %v (lockstorm run endless-extension-limited)", m.Grants, m.LongestWait)
		}
	}
}
