package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// record runs a scenario and returns its history.
func record(t *testing.T, s scenarios.Scenario) history.Log { return recordSeed(t, s, 1) }

func recordSeed(t *testing.T, s scenarios.Scenario, seed uint64) history.Log {
	t.Helper()
	var log history.Log
	if _, err := runner.Run(context.Background(), simulator, s, seed, &log); err != nil {
		t.Fatal(err)
	}
	return log
}

// alone is a client that holds the lock for a while, and extends it.
func alone(t *testing.T, plan ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "calm")
	s.Clients = []scenarios.Client{{
		Workload: "hold", Resource: "r", Rounds: 1, Work: nemesis.Range{Min: 2 * time.Second, Max: 2 * time.Second}, ExtendEvery: 400 * ms,
	}}
	s.Plan = plan
	return s
}

func times(log history.Log, kind history.Kind) (list []history.Time) {
	for _, e := range log {
		if e.Kind == kind {
			list = append(list, e.Time)
		}
	}
	return list
}

// A pause at a step makes an operation longer and never shorter: a call is
// recorded before the client is paused at it, a return after.
func TestPausesAreInsideOperations(t *testing.T) {
	cases := []struct {
		step   env.Step
		kind   history.Kind
		before bool // the event comes before the pause
	}{
		{env.StepAcquire, history.Acquire, true},
		{env.StepGranted, history.Granted, false},
		{env.StepExtend, history.Extend, true},
		{env.StepExtended, history.Extended, false},
		{env.StepBeforeRelease, history.Release, true},
		{env.StepReleased, history.Released, false},
	}
	for _, c := range cases {
		log := record(t, alone(t, nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, c.step, 0), End: nemesis.After(50 * ms)}))
		paused, resumed, event := times(log, history.Pause)[0], times(log, history.Resume)[0], times(log, c.kind)[0]
		if c.before && event != paused || !c.before && event != resumed {
			t.Errorf("a client stood still at its step %s from %v to %v; the history has %s at %v: want a call before the pause, and a return after it", c.step, paused, resumed, c.kind, event)
		}
	}
}

// A lapse is written for the end of validity that holds, and for no end that
// an extension or a release has overtaken.
func TestLapses(t *testing.T) {
	s := alone(t)
	s.Clients[0].Think = nemesis.Range{Min: 3 * time.Second, Max: 3 * time.Second}
	log := record(t, s)
	if extensions, lapses := times(log, history.Extended), times(log, history.Lapse); len(extensions) != 4 || len(lapses) != 0 {
		t.Errorf("%d extensions, lapses at %v", len(extensions), lapses)
	}

	late := alone(t, nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtended, 0), End: nemesis.After(3 * time.Second)})
	late.Plan[0].Start.Count = 2
	log = record(t, late)
	extended := history.Event{}
	for _, e := range log {
		switch e.Kind {
		case history.Extended:
			extended = e
		case history.Lapse:
			if extended.Until != 0 && e.Until < extended.Until {
				t.Errorf("a lapse of %d after an extension to %d", e.Until, extended.Until)
			}
		}
	}
	// The end that the extension has overtaken holds until its return, which the pause puts
	// off beyond the new one.
	var lapses []history.Event
	for _, e := range log {
		if e.Kind == history.Lapse {
			lapses = append(lapses, e)
		}
	}
	resumed := times(log, history.Resume)[0]
	if len(lapses) != 2 || lapses[0].Time >= resumed || lapses[1].Time != resumed || lapses[1].Since >= resumed {
		t.Errorf("lapses %v, want one during the pause, and one that is told at its end, %v", lapses, resumed)
	}
}

// A client that dies before an extension returns never learns of it: its earlier validity ends, and
// the lock is free for others.
func TestDeathBeforeAnExtensionReturns(t *testing.T) {
	s := alone(t, nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: nemesis.When(1, env.StepExtended, 0)})
	other := s.Clients[0]
	other.Resource = "another"
	s.Clients = append(s.Clients, other) // whose work goes on beyond that end
	log := record(t, s)
	granted, lapsed := history.Event{}, history.Event{}
	for _, e := range log {
		switch {
		case e.Client != 1:
		case e.Kind == history.Granted:
			granted = e
		case e.Kind == history.Lapse:
			lapsed = e
		}
	}
	if granted.Until == 0 || lapsed.Until != granted.Until {
		t.Errorf("granted until %d, and the lapse is of %d", granted.Until, lapsed.Until)
	}
}

// The news of a loss is in the history.
func TestLossIsRecorded(t *testing.T) {
	var plan nemesis.Plan
	for n := 1; n <= 3; n++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(500 * ms), End: nemesis.After(10 * ms)})
	}
	log := record(t, alone(t, plan...))
	lost, failed := times(log, history.Lost), times(log, history.ExtendFailed)
	if len(lost) != 1 || len(failed) != 1 || lost[0] != failed[0] || lost[0] < history.Time(500*ms) {
		t.Errorf("lost at %v, extension failed at %v", lost, failed)
	}
}

// An extension that asks for less than there is moves the end of validity when it is
// called, whatever becomes of it: the clock comes to the earlier end, and the history has
// a lapse of it.
func TestTheEarlierEndThatAnExtensionAsksForLapses(t *testing.T) {
	s := alone(t)
	s.Lock.Kind = "haggling"
	log := record(t, s)
	called, lapsed := firstOf(log, history.Extend, 1), firstOf(log, history.Lapse, 1)
	if called.Until == 0 || lapsed.Until != called.Until || lapsed.Since != 0 || lapsed.Time <= called.Time {
		t.Errorf("the extension %+v, the first lapse %+v: want one of the same end", called, lapsed)
	}
}

// A lock may tell, when it grants, of another end of validity than before it sent its
// requests, and its client may have stood still past both. The history says since when the
// second was over: who was granted the lock in between is not accused.
func TestALapseThatIsToldLateAccusesNobody(t *testing.T) {
	s := alone(t, nemesis.Fault{
		Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepAfterCheck, 0), End: nemesis.After(2 * time.Second),
	})
	s.Lock.Kind = "redating"
	second := s.Clients[0]
	second.Start = nemesis.Range{Min: 100 * ms, Max: 100 * ms}
	s.Clients = append(s.Clients, second)
	log := record(t, s)
	lapsed := history.Event{}
	for _, e := range log {
		if e.Kind == history.Lapse && e.Client == 1 && e.Since != 0 {
			lapsed = e
		}
	}
	if lapsed.Since == 0 || lapsed.Since >= lapsed.Time {
		t.Fatal("no lapse of client 1 is told late")
	}
	if granted := firstOf(log, history.Granted, 2); granted.Time <= lapsed.Since || granted.Time >= lapsed.Time {
		t.Fatalf("client 2 was granted the lock at %v; want it between %v and %v, while client 1 stands still", granted.Time, lapsed.Since, lapsed.Time)
	}
	panel := checker.New(prepared(t, simulator, s).Header(1), checker.Lease)
	for i := range log {
		panel.Record(&log[i])
	}
	if f := panel.Finish().Finding(checker.Lease); f.Verdict != checker.Holds {
		t.Errorf("lease exclusion is %v: %s", f.Verdict, f.Story())
	}
}

// firstOf returns the first event of a kind that is about a client.
func firstOf(log history.Log, kind history.Kind, client int) history.Event {
	for _, e := range log {
		if e.Kind == kind && e.Client == client {
			return e
		}
	}
	return history.Event{}
}

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

// A lock that counts by a clock which stops in suspension, where one that continues was promised,
// loses an update. V1 uses the reported end of validity and holds; the contract is violated.
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
	if want := "The history shows no broken assumption: the clock that the lock reads had come to the end of validity"; !strings.Contains(story, want) {
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

// A grant and an extension record the client's clock, rounded so that a correct lock's validity is
// never longer than the clock leaves.
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

// The history records a holder's checks and their answers.
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
