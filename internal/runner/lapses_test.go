package runner_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

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
