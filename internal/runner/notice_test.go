package runner_test

import (
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

// suspendedHolder is a holder whose machine sleeps past the TTL, and which looks at the
// lock before it writes.
func suspendedHolder(t *testing.T, kind string) scenarios.Scenario {
	s := find(t, "client-suspend-counted")
	s.Lock.Kind, s.Lock.Margin = kind, 0
	s.Clients = slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Workload = "checked"
	}
	s.Clients[1].Work = nemesis.Range{Min: 300 * ms, Max: 300 * ms}
	return s
}

// A lock that counts on a clock which stands still in suspension, and was asked for one that
// goes on, loses an update. V1 goes by the end of validity that the lock has told; the
// contract does not.
func TestSuspendedHolderIsToldInTime(t *testing.T) {
	sound := runs(t, suspendedHolder(t, "redlock"), 20)
	if got := sound.Observed(checker.Contract); got != checker.Holds {
		t.Errorf("a sound lock: contract %v: %s", got, sound.First[checker.Contract].Report.Finding(checker.Contract).Story())
	}
	tally := runs(t, suspendedHolder(t, "dreaming"), 20)
	for p, want := range map[checker.Property]checker.Verdict{
		checker.Lease: checker.Holds, checker.Effect: checker.Violated, checker.Contract: checker.Violated,
	} {
		if got := tally.Observed(p); got != want {
			t.Errorf("a deadline on the wrong clock: %v %v, want %v", p, got, want)
		}
	}
	story := tally.First[checker.Contract].Report.Finding(checker.Contract).Story()
	if want := "No assumption is seen to be broken: the clock that the lock reads had come to the end of validity"; !strings.Contains(story, want) {
		t.Errorf("got %q, want it to say %q", story, want)
	}
}

// Where the clock that the lock reads sleeps with the machine, the cause is that.
func TestSleepingClockIsTheCause(t *testing.T) {
	tally := runs(t, find(t, "client-suspend"), 5)
	story := tally.First[checker.Contract].Report.Finding(checker.Contract).Story()
	if want := "Broken assumption: the clock that a lock reads counts all the time that passes (the machine of client 1 sleeps"; !strings.Contains(story, want) {
		t.Errorf("got %q, want it to say %q", story, want)
	}
}

// The validity that a lock tells is held against its client's clock.
func TestValidityIsThatOfTheClock(t *testing.T) {
	for kind, want := range map[string]checker.Verdict{"redlock": checker.Holds, "hasty": checker.Violated} {
		s := find(t, "calm")
		s.Lock.Kind = kind
		tally := runs(t, s, 3)
		if got := tally.Observed(checker.Contract); got != want {
			t.Errorf("%s: contract %v, want %v", kind, got, want)
		}
	}
	late := find(t, "calm")
	late.Lock.Kind, late.Expect = "hasty", nil
	late.Plan = nemesis.Plan{{
		Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepQuorum, 0), End: nemesis.After(1500 * time.Millisecond),
	}}
	tally := runs(t, late, 3)
	if got := tally.Observed(checker.Contract); got != checker.Violated {
		t.Errorf("a check after the end of validity has led to a grant: contract %v", got)
	}
}

// What the clock shows is written with a grant and an extension, and never so that the
// validity of a sound lock is more than that leaves.
func TestGrantsBearTheirClock(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepBeforeCheck, 0), End: nemesis.After(70 * ms)}
	log := record(t, alone(t, pause))
	seen := 0
	for _, e := range log {
		if e.Kind != history.Granted && e.Kind != history.Extended {
			continue
		}
		seen++
		if left := time.Duration(e.Until - e.Now); e.Now == 0 || e.Validity != left {
			t.Errorf("%v at %v: %v of validity, want %v by the clock", e.Kind, e.Time, e.Validity, left)
		}
	}
	if seen < 3 {
		t.Errorf("%d grants and extensions: want more", seen)
	}
}

// What a holder asks and hears is in the history.
func TestChecksAreRecorded(t *testing.T) {
	s := find(t, "pause-then-write")
	s.Clients = slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Workload = "checked"
	}
	log := record(t, s)
	asked, told := times(log, history.Check), map[int]history.Outcome{}
	for _, e := range log {
		if e.Kind == history.Checked {
			told[e.Client] = e.Outcome
		}
	}
	if len(asked) != 2 || told[1] != history.Declined || told[2] != history.OK {
		t.Errorf("asked at %v and told %v: want client 1 refused, which stood still past its validity, and client 2 not", asked, told)
	}
}
