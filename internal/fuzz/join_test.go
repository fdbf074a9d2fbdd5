package fuzz_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// Law: the joined totals of parts are those of the whole, and near misses are read as they were
// written.
func TestTotalsOfPartsAreThoseOfTheWhole(t *testing.T) {
	h := small(t, nil)
	h.Guidance, h.Wanted, h.Depth = fuzz.Priorities, nil, 2
	var whole, joined fuzz.Results
	parts := make([]fuzz.Results, 4)
	h.Runs = 160
	h.Each = func(s fuzz.Run) bool {
		whole.Add(s)
		parts[s.Number%4].Add(s)
		return true
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{2, 0, 3, 1} {
		joined.Join(parts[i].Counts)
		joined.Near = joined.Near.Closer(parts[i].Near)
		if err := parts[i].Validate(40); err != nil {
			t.Error(err)
		}
	}
	if whole.Prioritized == nil || !reflect.DeepEqual(joined.Counts, whole.Counts) {
		t.Errorf("%+v\nand not\n%+v", joined.Counts, whole.Counts)
	}

	h.Guidance, h.Runs, whole = fuzz.Full, 50, fuzz.Results{}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(whole.Near)
	if err != nil {
		t.Fatal(err)
	}
	var back fuzz.NearMiss
	if err := json.Unmarshal(text, &back); err != nil || back != whole.Near || back.String() == "" {
		t.Errorf("%v: %s is read as %v, and not %v", err, text, back, whole.Near)
	}
}

// Totals that no runs have are rejected, with what is wrong.
func TestTotalsAreChecked(t *testing.T) {
	lease := checker.Lease
	for want, c := range map[string]fuzz.Counts{
		"-1 runs: want 0 to 10":                         {Runs: -1},
		"11 runs: want 0 to 10":                         {Runs: 11},
		"-1 grants and 0 faults: want 0 to":             {Grants: -1},
		"0 grants and 9223372036854775807 faults":       {Faults: math.MaxInt},
		"a contended hold in 3 of 2 runs":               {Runs: 2, Contended: 3},
		"lease tested in 3 of 2 runs":                   {Runs: 2, Tested: map[checker.Property]int{lease: 3}},
		"lease violated in 1 of the 0 runs that tested": {Runs: 2, Violations: map[checker.Property]int{lease: 1}},
		"3 of 2 runs by priorities":                     {Runs: 2, Prioritized: &fuzz.Prioritized{Runs: 3}},
		"priorities of depth 0":                         {Runs: 2, Prioritized: &fuzz.Prioritized{Runs: 1}},
		"priorities with a probability of NaN":          {Runs: 2, Prioritized: &fuzz.Prioritized{Runs: 1, Depth: 1, Guarantee: math.NaN()}},
	} {
		if err := c.Validate(10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, text := range []string{`{"votes":-1}`, `{"gap":9223372036854775807}`, `{"gap":1.5}`, `[]`} {
		var n fuzz.NearMiss
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s is accepted: %v", text, n)
		}
	}
}

// An entry that no hunt offers is rejected, with what is wrong.
func TestEntriesAreChecked(t *testing.T) {
	h := small(t, nil)
	h.Runs = 50
	_, offers := described(t, h, nil)
	for want, change := range map[string]func(*fuzz.Entry){
		"run 0: want 1 to":                  func(e *fuzz.Entry) { e.Run = 0 },
		"run 1099511627777: want 1 to":      func(e *fuzz.Entry) { e.Run = 1<<40 + 1 },
		`unknown measure "luck"`:            func(e *fuzz.Entry) { e.Measure = "luck" },
		"want either a measure or":          func(e *fuzz.Entry) { e.Measure = "" },
		"want either a measure or broken":   func(e *fuzz.Entry) { e.Broken = []checker.Property{checker.Lease} },
		"a distance of -1: want 0 to":       func(e *fuzz.Entry) { e.Distance = -1 },
		"a distance of 9223372036854775807": func(e *fuzz.Entry) { e.Distance = math.MaxInt64 },
		"a distance of 7 without a measure": func(e *fuzz.Entry) { *e = fuzz.Entry{Run: 1, Distance: 7, Broken: []checker.Property{checker.Lease}} },
		"broken: the properties [faith]":    func(e *fuzz.Entry) { e.Measure, e.Distance, e.Broken = "", 0, []checker.Property{"faith"} },
		"broken: the properties [section lease]": func(e *fuzz.Entry) {
			e.Measure, e.Distance, e.Broken = "", 0, []checker.Property{checker.Section, checker.Lease}
		},
		"scenario: ": func(e *fuzz.Entry) { e.Candidate = fuzz.Candidate{} },
	} {
		e := offers[0]
		if change(&e); e.Validate() == nil || !strings.Contains(e.Validate().Error(), want) {
			t.Errorf("got %v, want %s", e.Validate(), want)
		}
	}
}
