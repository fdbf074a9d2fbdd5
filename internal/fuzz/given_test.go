package fuzz_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// described makes some runs of a hunt and describes each.
func described(t testing.TB, h fuzz.Hunt, given []fuzz.Candidate) (runs []string, offers []fuzz.Entry) {
	t.Helper()
	h.Each = func(s fuzz.Run) bool {
		runs = append(runs, fmt.Sprintf("%d: %d %v %x %v", s.Number, s.Seed, s.Scenario.Plan, s.Result.TraceHash, s.Broken))
		return true
	}
	offers, err := h.RunFrom(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	return runs, offers
}

// candidates returns those of entries.
func candidates(entries []fuzz.Entry) (list []fuzz.Candidate) {
	for _, e := range entries {
		list = append(list, e.Candidate)
	}
	return list
}

// Law: the hunt and the given candidates determine the runs and what is offered, on any number of
// cores. Other given candidates make other runs.
func TestGivenCandidatesDetermineTheRuns(t *testing.T) {
	h := small(t, nil)
	h.Runs = 200
	_, given := described(t, h, nil)
	if len(given) == 0 {
		t.Fatal("nothing is offered")
	}
	h.Before, h.Runs = 1000, 100
	var runs [3][]string
	var offers [3][]fuzz.Entry
	for i, with := range [][]fuzz.Candidate{candidates(given), candidates(given), nil} {
		before := runtime.GOMAXPROCS(1 + 3*i%6)
		runs[i], offers[i] = described(t, h, with)
		runtime.GOMAXPROCS(before)
	}
	if !slices.Equal(runs[0], runs[1]) || !reflect.DeepEqual(offers[0], offers[1]) {
		t.Error("the same candidates have led to other runs")
	}
	if slices.Equal(runs[0], runs[2]) {
		t.Error("the given candidates change nothing")
	}
	if !strings.HasPrefix(runs[0][0], "1001: ") || len(runs[0]) != h.Runs {
		t.Errorf("%d runs, the first is %s", len(runs[0]), runs[0][0])
	}
	for _, e := range offers[0] {
		if e.Run <= h.Before || e.Run > h.Before+h.Runs {
			t.Errorf("%s of run %d is offered, which is none of this hunt", e.Key(), e.Run)
		}
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Law: without a corpus the runs of a hunt are the same, whoever makes which of them.
func TestRunsDependOnTheirNumbers(t *testing.T) {
	for _, guidance := range []fuzz.Guidance{fuzz.Aim, fuzz.None} {
		h := small(t, nil)
		h.Guidance, h.Runs = guidance, 90
		whole, _ := described(t, h, nil)
		var divided []string
		for before := 0; before < 90; before += 40 {
			h.Before, h.Runs = before, min(40, 90-before)
			some, offers := described(t, h, nil)
			divided = append(divided, some...)
			if len(offers) > 0 {
				t.Error("there is no corpus, and it offers something")
			}
		}
		if !slices.Equal(divided, whole) {
			t.Errorf("guidance %s: other runs", guidance)
		}
	}
}

// Law: an offered candidate is read as it was written, and its run is the same.
func TestOffersAreExact(t *testing.T) {
	space, err := fuzz.SpaceOfLock("redlock")
	if err != nil {
		t.Fatal(err)
	}
	h := fuzz.Hunt{Backend: simulated.Backend(), Space: space, Terms: promises.Unconditional, MaxFaults: 6, Seed: 3, Runs: 300}
	_, offers := described(t, h, nil)
	kinds := map[string]bool{}
	for _, e := range offers {
		kinds[e.Group()] = true
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back fuzz.Entry
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(text) || back.Key() != e.Key() || back.Compare(e) != 0 {
			t.Errorf("%v\n%s\nis read as\n%s", err, text, again)
		}
		was, err := e.Candidate.Repeat(t.Context(), simulated.Backend())
		if err != nil {
			t.Fatal(err)
		}
		is, err := back.Candidate.Repeat(t.Context(), simulated.Backend())
		if err != nil || is.TraceHash != was.TraceHash {
			t.Errorf("%s: the run is another: %v", e.Key(), err)
		}
		for _, p := range e.Broken {
			if is.Report.Finding(p).Verdict != checker.Violated {
				t.Errorf("%s: %s is not violated", e.Key(), p)
			}
		}
	}
	if len(kinds) < 7 {
		t.Errorf("only %d groups are offered: %v", len(kinds), kinds)
	}
}

// What is given is checked before anything is run.
func TestGivenCandidatesAreChecked(t *testing.T) {
	h := small(t, nil)
	h.Runs = 50
	_, offers := described(t, h, nil)
	good := offers[0].Candidate
	many := make([]fuzz.Candidate, fuzz.MaxGiven+1)
	for want, given := range map[string][]fuzz.Candidate{
		"65 given candidates: want at most 64":                    many,
		"given candidate 1: scenario: ":                           {{}},
		`given candidate 2: it is of "calm", and not of`:          {good, changed(good, func(s *scenarios.Scenario) { s.Name = "calm" })},
		"given candidate 1: scenario: it has a generator":         {changed(good, func(s *scenarios.Scenario) { s.Generate = &nemesis.Generator{} })},
		"given candidate 1: it has 7 faults: want at most 6":      {changed(good, func(s *scenarios.Scenario) { s.Plan = faults(7) })},
		`given candidate 1: lock.kind: unknown lock "bluelock": `: {changed(good, func(s *scenarios.Scenario) { s.Lock.Kind = "bluelock" })},
	} {
		h.Each = func(fuzz.Run) bool { t.Error("a run"); return false }
		if _, err := h.RunFrom(t.Context(), given); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func changed(c fuzz.Candidate, change func(*scenarios.Scenario)) fuzz.Candidate {
	change(&c.Scenario)
	return c
}

// faults returns so many faults, one after another.
func faults(n int) (p nemesis.Plan) {
	for i := range n {
		p = append(p, nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 5}, Start: nemesis.At(time.Duration(i+1) * time.Millisecond)})
	}
	return p
}
