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

// Law: what parts contenders who have split the votes is that their retry delays differ.
// Clones draw the same ones: while their messages take the same times, nobody is ever
// granted the lock.
func TestClonesStayInStep(t *testing.T) {
	s, err := scenarios.Find("split-vote-jitter-50ms")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	wantVerdicts(t, runs(t, s, 20), verdicts{checker.DeadlockFreedom: checker.Holds})
	s.Plan = nemesis.Plan{{Action: &nemesis.Clone{}, Start: nemesis.At(0)}}
	tally := runs(t, s, 20)
	if n := tally.Seen[checker.DeadlockFreedom][checker.Violated]; n < tally.Runs {
		t.Fatalf("clones were granted the lock in %d of %d runs", tally.Runs-n, tally.Runs)
	}
	first := tally.First[checker.DeadlockFreedom]
	if story := first.Report.Finding(checker.DeadlockFreedom).Story(); !strings.Contains(story, "Broken assumption: clients that collide wait for different times") {
		t.Errorf("the story does not say why: %s", story)
	}
}

// An operator's promise is that of the lock: in storms of faults that end, somebody
// is granted the lock in the end.
func TestDeadlockFreedomInStorms(t *testing.T) {
	s := busy(t, 20, "pause", "kill", "partition", "latency", "loss", "reset", "node-pause", "crash", "shutdown", "script-flush", "evict")
	if tally := runs(t, s, 60); tally.Seen[checker.DeadlockFreedom][checker.Violated] > 0 || tally.Seen[checker.DeadlockFreedom][checker.Holds] < 45 {
		t.Errorf("of 60 storms of faults that end want none in which nobody is granted the lock any more, and 45 that can be judged; seen %v: %s", tally.Seen[checker.DeadlockFreedom], tally.First[checker.DeadlockFreedom].Report.Finding(checker.DeadlockFreedom).Story())
	}
}
