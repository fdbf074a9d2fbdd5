package promises_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A violation is a limit outside the assumptions of a promise, or of a bound that nobody can keep, and
// otherwise a defect. Of an unknown lock nobody knows.
func TestStanding(t *testing.T) {
	found := func(name string, change func(*scenarios.Scenario)) scenarios.Scenario {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		change(&s)
		return s
	}
	as := func(*scenarios.Scenario) {}
	for name, c := range map[string]struct {
		done scenarios.Scenario
		p    checker.Property
		want string
	}{
		"outside":      {found("crash-restart", as), checker.Lease, "a limit: fault 2: node 3 can return after 0s without something that it had acknowledged, sooner than 1s (restart_delay)"},
		"inside":       {found("calm", as), checker.Lease, promises.Defect},
		"not promised": {found("calm", func(s *scenarios.Scenario) { s.Lock.Kind = "setnx-del" }), checker.Lease, "a limit: the lock does not promise it"},
		"a bound":      {found("calm", func(s *scenarios.Scenario) { s.Bounds.Cleanup = time.Nanosecond }), checker.Cleanup, "a limit: with these settings the lock does not promise to keep the scenario's bound (cleanup)"},
		"unknown":      {found("crash-restart", func(s *scenarios.Scenario) { s.Lock.Kind = "paxos" }), checker.Lease, ""},
	} {
		if got := promises.Standing(c.done, c.p); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A finding of a defect names no broken assumption, and no remedy for one: the lock promises to withstand
// what took place. That of a limit does.
func TestDefectNamesNoAssumption(t *testing.T) {
	lost := checker.Event{Role: checker.RoleLoss, Client: 1, Nodes: []checker.NodeTime{{Node: 3, At: 2}}, Text: "node 3 forgot client 1's key at 2ns"}
	found := checker.Finding{
		Property: checker.Lease, Verdict: checker.Violated,
		Causes: []checker.Cause{{Assumption: checker.KeepsOrStaysAway, Evidence: []checker.Event{lost}}},
	}
	for name, want := range map[string]string{
		"calm":          "The history shows no broken assumption: node 3 forgot client 1's key at 2ns",
		"crash-restart": "Broken assumption: a node that comes back keeps its keys, or stays away for the longest TTL (node 3 forgot client 1's key at 2ns)",
	} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		told, standing := promises.Told(s, found)
		if advised := len(told.Remedies()) > 0; told.Story() != want || advised == (standing == promises.Defect) {
			t.Errorf("%s, %s: %s %q, want %s", name, standing, told.Story(), told.Remedies(), want)
		}
	}
	if found.Causes[0].Assumption == "" {
		t.Error("the finding itself was changed")
	}
}
