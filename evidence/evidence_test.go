package main

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/evidence/mutants"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Tests here do not read stored results: these are renewed on purpose, and may be older than the program.

func TestMistakenArguments(t *testing.T) {
	for _, c := range []struct {
		pages   []string
		missing bool
		want    string
	}{
		{[]string{"debate", "debat"}, false, `there is no page "debat"`},
		{[]string{"agreement", "bench"}, true, "bench is measured as a whole"},
		{[]string{"mutants", "mine.diff"}, true, "mutants is measured as a whole"},
	} {
		if err := run(t.Context(), c.pages, true, c.missing); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.pages, err, c.want)
		}
	}
}

// Every lock that is priced can run.
func TestPriceScenariosCanRun(t *testing.T) {
	for _, l := range pricedLocks() {
		for _, s := range []scenarios.Scenario{priceScenario(l, 8), outageScenario(l)} {
			e, err := runner.Prepare(simulated.Backend(), s)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			if r, err := e.Run(t.Context(), 1, nil); err != nil || r.Report.Measurements.Grants == 0 {
				t.Errorf("%s: %d grants, %v", s.Name, r.Report.Measurements.Grants, err)
			}
		}
	}
}

// The page of the hunts counts what was caught, and by a named property.
func TestMutantsPage(t *testing.T) {
	all, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	m := all[0]
	h := hunted{Made: "go", Hunts: []hunt{
		{Lock: m.Lock, Runs: 100}, {Number: m.Number, Lock: m.Lock, Found: m.Names[0], Runs: 7}, {Number: all[1].Number, Lock: m.Lock, Runs: 50},
	}}
	page := mutantsPage(h, all)
	for _, part := range []string{"| 0 | none: " + m.Lock + " as it is | – | nothing | 100 |", "| " + m.Number + " | " + m.Title + " | ", "| missed | 50 |", "Of the catalogue 1 of 2 are caught, 1 by a property that is named."} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in:\n%s", part, page)
		}
	}
}

// The page of what was compared with the specification has the steps of each kind, and both finds of a planted
// defect.
func TestConformancePage(t *testing.T) {
	all, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	found := &watch.Found{Run: 5, Mismatch: conform.Mismatch{Step: "Grant", Wrong: []string{"A6Check"}}}
	r := &conformed{
		Made: "go", Hunt: []watch.Tally{
			{Runs: 1000, Steps: map[string]int{"Set": 30_000, "EndDraw": 56_000}}, {Runs: 200, Steps: map[string]int{"Set": 4_000}, Beyond: 7, Broken: map[string]int{"A5": 3}},
		},
		Mutants: []mutantConforms{{Number: all[0].Number, Runs: 5, Found: found}, {Number: all[1].Number, Runs: 90}},
	}
	page := conformancePage(r, hunted{Hunts: []hunt{{Number: all[0].Number, Found: checker.Lease, Runs: 7}, {Number: all[1].Number, Runs: 50}}}, all)
	for _, part := range []string{
		"with go.", "| runs within the assumptions | 0 | 1,200 | 0 |", "| steps `Set` | 0 | 34,000 | 0 |", "| steps `EndDraw` | 0 | 56,000 | 0 |", "| of which break `A5` | 0 | 3 | 0 |",
		"| " + all[0].Number + " | " + all[0].Title + " | 5 | Grant | A6Check | 7 |",
		"| " + all[1].Number + " | " + all[1].Title + " | none in 90 | – | – | missed in 50 |",
		"1 of the 2 that were compared are found by a mismatch.",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in:\n%s", part, page)
		}
	}
}
