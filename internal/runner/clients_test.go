package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// cancelled is a client whose call is cancelled when the moment comes, and who
// then has time to see its keys deleted.
func cancelled(t *testing.T, at nemesis.Trigger, others ...nemesis.Fault) scenarios.Scenario {
	s := alone(t, append(others, nemesis.Fault{Action: &nemesis.Cancel{Client: 1}, Start: at})...)
	s.Clients[0].Think = nemesis.Range{Min: 500 * ms, Max: 500 * ms}
	s.Lock.Tries = 1
	return s
}

// one returns the only event of a kind.
func one(t *testing.T, log history.Log, kind history.Kind) history.Event {
	t.Helper()
	var all history.Log
	for _, e := range log {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	if len(all) != 1 {
		t.Fatalf("%d events %s: %+v", len(all), kind, all)
	}
	return all[0]
}

// wantNoKeys checks that every key that was set has been deleted.
func wantNoKeys(t *testing.T, log history.Log) {
	t.Helper()
	left := map[string]bool{}
	set := 0
	for _, e := range log {
		key := fmt.Sprintf("%s on node %d", e.Token, e.Node)
		switch e.Kind {
		case history.KeySet:
			left[key] = true
			set++
		case history.KeyGone:
			delete(left, key)
			if e.Reason != "deleted" {
				t.Errorf("the key of %s was %s", key, e.Reason)
			}
		}
	}
	if set == 0 || len(left) > 0 {
		t.Errorf("of %d keys these are left: %v", set, left)
	}
}

// A call of acquire that is cancelled before the nodes have decided returns the
// context's error, later it grants the lock; either way no key is left.
func TestCancelAtEveryStepOfAnAcquisition(t *testing.T) {
	steps := env.Steps()
	steps = steps[:slices.Index(steps, env.StepGranted)+1]
	for _, step := range steps {
		if step == env.StepQueued || step == env.StepWoken {
			continue // steps of locks that wait to be woken
		}
		replies := 1
		if step == env.StepReply {
			replies = 3
		}
		for k := 1; k <= replies; k++ {
			at := nemesis.When(1, step, 0)
			decided := step > env.StepReply
			if step == env.StepReply {
				at.K, decided = k, k == 3
			}
			t.Run(fmt.Sprintf("%s %d", step, k), func(t *testing.T) {
				log := record(t, cancelled(t, at))
				one(t, log, history.Cancel)
				if decided {
					one(t, log, history.Granted)
				} else if e := one(t, log, history.Refused); e.Reason != "context canceled" {
					t.Errorf("refused because of %q", e.Reason)
				}
				wantNoKeys(t, log)
			})
		}
	}
}

// A call sees at once that it is cancelled, whatever it waits for.
func TestCancelBetweenSteps(t *testing.T) {
	log := record(t, cancelled(t, nemesis.When(1, env.StepBeforeSend, 100*time.Microsecond)))
	if refused, cancel := one(t, log, history.Refused), one(t, log, history.Cancel); refused.Time != cancel.Time {
		t.Errorf("cancelled at %v, refused at %v", cancel.Time, refused.Time)
	}
	wantNoKeys(t, log)

	// It waits to try again, and does not.
	var gone []nemesis.Fault
	for n := 1; n <= 3; n++ {
		gone = append(gone, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(0)})
	}
	s := cancelled(t, nemesis.When(1, env.StepRefused, 10*ms), gone...)
	s.Lock.Tries = 0
	log = record(t, s)
	one(t, log, history.Refused)
	if end, cancel := one(t, log, history.End), one(t, log, history.Cancel); end.Time.Sub(cancel.Time) != 500*ms {
		t.Errorf("cancelled at %v, the client was done at %v", cancel.Time, end.Time)
	}
}

// An extension that is cancelled fails and leaves the hold as it was; a release
// that is cancelled does not know its outcome and has deleted the keys all the
// same.
func TestCancelOfAHolder(t *testing.T) {
	log := record(t, cancelled(t, nemesis.When(1, env.StepExtend, 0)))
	if e := one(t, log, history.ExtendFailed); e.Reason != "context canceled" {
		t.Errorf("the extension failed because of %q", e.Reason)
	}
	if extended := times(log, history.Extended); len(extended) != 3 {
		t.Errorf("extended at %v, after the one that was cancelled", extended)
	}
	wantNoKeys(t, log)

	log = record(t, cancelled(t, nemesis.When(1, env.StepBeforeRelease, 0)))
	if e := one(t, log, history.Released); e.Outcome != history.Unknown {
		t.Errorf("released: %s", e.Outcome)
	}
	wantNoKeys(t, log)
}

// However often calls are cancelled, a correct lock keeps what it promises.
func TestCancelsBreakNothing(t *testing.T) {
	s := find(t, "minority-partition")
	for i := range 100 {
		s.Plan = append(s.Plan[:1+i:1+i], nemesis.Fault{
			Action: &nemesis.Cancel{Client: 1 + i%2}, Start: nemesis.When(1+i%2, env.Steps()[i%7], time.Duration(i)*100*time.Microsecond),
		})
		s.Plan[1+i].Start.Count = 1 + i/7
	}
	tally := runs(t, s, 50)
	for p, want := range s.Expect {
		if p == checker.FaultTolerance || p == checker.DeadlockFreedom { // hardly a try is left to tell
			want = checker.Unknown
		}
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v, want %v", p, got, want)
		}
	}
}

// Law: what parts contenders who have split the votes is that their retry delays differ.
// Clones draw the same ones: while their messages take the same times, nobody is ever
// granted the lock.
func TestClonesStayInStep(t *testing.T) {
	s, err := scenarios.Find("split-vote-jitter-50ms")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	wantVerdicts(t, storms(t, s, 20), verdicts{checker.DeadlockFreedom: checker.Holds})
	s.Plan = nemesis.Plan{{Action: &nemesis.Clone{}, Start: nemesis.At(0)}}
	tally := storms(t, s, 20)
	if n := tally.Seen[checker.DeadlockFreedom][checker.Violated]; n < tally.Runs {
		t.Fatalf("clones were granted the lock in %d of %d runs", tally.Runs-n, tally.Runs)
	}
	first := tally.First[checker.DeadlockFreedom]
	if story := first.Report.Finding(checker.DeadlockFreedom).Story(); !strings.Contains(story, "Broken assumption: clients that collide wait for different times") {
		t.Errorf("the story does not say why: %s", story)
	}
}

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
