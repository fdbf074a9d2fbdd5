package runner_test

import (
	"context"
	"reflect"
	"testing"
	"time"

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

// Who dies when an extension is about to return never learns of it: what was granted before
// ends all the same, and the lock is free for others.
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

// A dead client's window ends with its validity.
func TestDeathOfAHolder(t *testing.T) {
	s := find(t, "calm")
	s.Clients = append([]scenarios.Client(nil), s.Clients...)
	s.Plan = nemesis.Plan{{Action: &nemesis.Kill{Client: 1}, Start: nemesis.When(1, env.StepBeforeWrite, 0)}}
	tally := runs(t, s, 50)
	for p, want := range s.Expect {
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v: %s", p, got, tally.First[p].Report.Finding(p).Story())
		}
	}
}

// What judges must know of a scenario is in the header.
func TestHeader(t *testing.T) {
	s := find(t, "minority-partition")
	got := prepared(t, simulator, s).Header(7)
	want := history.Header{
		Format: history.Format, Version: history.Version, Scenario: s.Name, Lock: "redlock", Backend: "sim", Seed: 7,
		Nodes: 5, Clients: 2, LongestTTL: time.Second, Allowance: 12 * ms, Keys: true, Bounds: s.Bounds,
	}
	if !reflect.DeepEqual(got, want) || got.Bounds.Tries == 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
