package runner_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// spin is a scenario in which messages and retries take no time, and who waits tries again
// and again at one instant.
func spin() scenarios.Scenario {
	waits := scenarios.Client{Workload: "hold", Resource: "r", Work: nemesis.Range{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}, Rounds: 1}
	return scenarios.Scenario{
		Name: "spin",
		Lock: scenarios.Lock{
			Kind: "redlock", TTL: 50 * time.Millisecond, DriftFactor: 0.01, NodeTimeout: time.Millisecond,
			Linger: 5 * time.Millisecond, Quarantine: 100 * time.Millisecond, Tokens: "time",
		},
		Clients: []scenarios.Client{waits, waits},
		Setting: nemesis.Setting{Nodes: 3, Persistence: nemesis.Nothing, Guard: "plain", Horizon: 200 * time.Millisecond},
	}
}

// A run in which time cannot move ends, with a reason that names who spins, and when: it
// took 3.6 GB in five seconds and never ended. Nothing in it is said to hold.
func TestSpinningRunsEnd(t *testing.T) {
	r, err := runner.Run(t.Context(), simulator, spin(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"time does not move", "client 1 spins at 0s", "16000 calls"} {
		if !strings.Contains(r.Report.Cut, want) {
			t.Errorf("the reason does not say %q: %q", want, r.Report.Cut)
		}
	}
	if r.Events > 100_000 {
		t.Errorf("it has had %d events", r.Events)
	}
	wantNothingHolds(t, r)
}

func wantNothingHolds(t *testing.T, r runner.Result) {
	t.Helper()
	for _, f := range r.Report.Findings {
		if f.Verdict != checker.Unknown && f.Verdict != checker.Violated {
			t.Errorf("%v %v in a run that ended with %q", f.Property, f.Verdict, r.Report.Cut)
		}
	}
	if r.AsExpected() {
		t.Error("a run that came to a bound is as expected")
	}
}

// A run has a bound on its events, which it names when it comes to it; and one that has
// none left to say is the same as with more.
func TestEventsAreBounded(t *testing.T) {
	s := cycles(2, 1, 100)
	s.MaxEvents = 0
	free, err := runner.Run(t.Context(), simulator, s, 1, nil)
	if err != nil || free.Report.Cut != "" {
		t.Fatalf("%q, %v", free.Report.Cut, err)
	}
	s.MaxEvents = free.Events + 1
	same, err := runner.Run(t.Context(), simulator, s, 1, nil)
	if err != nil || same.Report.Cut != "" || same.TraceHash != free.TraceHash {
		t.Errorf("with enough events: %q, %v", same.Report.Cut, err)
	}
	s.MaxEvents = free.Events / 2
	short, err := runner.Run(t.Context(), simulator, s, 1, nil)
	if err != nil || !strings.Contains(short.Report.Cut, "(max_events)") || short.Events > s.MaxEvents+1 {
		t.Errorf("with half of the events: %q after %d, %v", short.Report.Cut, short.Events, err)
	}
	wantNothingHolds(t, short)
}

// Settings that keep runs from reaching their horizon are warned about beforehand, with the field.
// Ordinary scenarios have no warnings.
func TestWarnings(t *testing.T) {
	for _, s := range scenarios.Every() {
		if list := prepared(t, simulator, s).Warnings(); len(list) > 0 {
			t.Errorf("%s: %v", s.Name, list)
		}
	}
	for path, change := range map[string]func(*scenarios.Scenario){
		"lock.retry": func(*scenarios.Scenario) {},
		"clients[0].rounds": func(s *scenarios.Scenario) {
			s.Lock.Retry.Max, s.Clients[0].Rounds, s.Clients[0].Work = time.Second, 1000, nemesis.Range{}
		},
		"lock.watchdog.every":     func(s *scenarios.Scenario) { s.Lock.Retry.Max, s.Lock.Watchdog.Every = time.Second, 1 },
		"clients[1].extend_every": func(s *scenarios.Scenario) { s.Lock.Retry.Max, s.Clients[1].ExtendEvery = time.Second, 1 },
		"plan[0].clock-strobe.period": func(s *scenarios.Scenario) {
			s.Lock.Retry.Max, s.Horizon = time.Hour, nemesis.MaxDuration
			s.Plan = nemesis.Plan{{Action: &nemesis.ClockStrobe{Machine: nemesis.Machine{Node: 1}, By: time.Second, Period: nemesis.MinStrobePeriod}}}
		},
	} {
		s := spin()
		change(&s)
		list := prepared(t, simulator, s).Warnings()
		if len(list) != 1 || list[0].Path != path {
			t.Errorf("want a warning about %s: %v", path, list)
		}
	}
}

// recorded counts what a run writes into its history.
type recorded struct{ events, bytes int }

func (r *recorded) Record(e *history.Event) {
	r.events++
	r.bytes += len(e.Resource) + len(e.Token) + len(e.Reason) + len(e.Detail) + len(e.Name) + 200
}

// The allowed cost of a run with a bound of hostileEvents. An event can concern each of the tries
// that share its token and its instant, so the cost of an instant does not depend on the bound.
const (
	hostileEvents  = 50_000
	bytesAtAll     = 512 << 20
	bytesAnEvent   = 16 << 10
	recordedEvents = 2*hostileEvents + 10_000
	recordedBytes  = recordedEvents * 1024
)

// Law: whatever can be validated, a run of it has no more events than its bound, records no
// more than follows from that, and takes no more memory; if it comes to a bound it names it,
// and says of no property that it holds. The counterpart is that ordinary scenarios end by
// themselves, and that some do come to a bound.
func TestHostileScenariosAreBounded(t *testing.T) {
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = hostileEvents
		before := allocated()
		var kept recorded
		r, err := runner.Run(t.Context(), simulator, s, rapid.Uint64Range(1, 100).Draw(t, "seed"), &kept)
		took := allocated() - before
		if took > bytesAtAll+hostileEvents*bytesAnEvent {
			t.Fatalf("it took %d MB after %d events: %s", took>>20, r.Events, hostiletest.Describe(s))
		}
		if err != nil {
			if strings.Contains(err.Error(), "panic") {
				t.Fatal(err)
			}
			outcomes["refused"]++
			return
		}
		if r.Events > hostileEvents+hostileEvents/10 || kept.events > recordedEvents || kept.bytes > recordedBytes {
			t.Fatalf("%d events, %d recorded of %d bytes: %s", r.Events, kept.events, kept.bytes, hostiletest.Describe(s))
		}
		outcomes[outcomeOf(r)]++
		if r.Report.Cut != "" {
			for _, f := range r.Report.Findings {
				if f.Verdict == checker.Holds || f.Verdict == checker.NotApplicable {
					t.Fatalf("%v %v in a run that ended with %q", f.Property, f.Verdict, r.Report.Cut)
				}
			}
		}
	})
	t.Log(outcomes)
	for _, want := range []string{"refused", "ends", "max_events"} { // whether time stands still in one of a hundred is luck
		if outcomes[want] == 0 {
			t.Errorf("no scenario was drawn that comes to %q: %v", want, outcomes)
		}
	}
}

// outcomeOf says how a run has ended.
func outcomeOf(r runner.Result) string {
	if r.Report.Cut == "" {
		return "ends"
	}
	for _, bound := range []string{"max_events", "time does not move", "at a time", "under way", "nothing happens", "too much to judge"} {
		if strings.Contains(r.Report.Cut, bound) {
			return bound
		}
	}
	return r.Report.Cut
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
