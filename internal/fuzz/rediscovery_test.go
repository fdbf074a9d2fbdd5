package fuzz_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Each row of the debate that expects a violation is hunted, and no other; of each series that
// violates its property, one point.
func TestEveryViolatingRowIsHunted(t *testing.T) {
	hunted := map[string]bool{}
	for _, r := range fuzz.Rediscoveries() {
		if len(r.Wanted()) == 0 || hunted[r.Name] {
			t.Errorf("%s is hunted for %v: want something, and once", r.Name, r.Wanted())
		}
		hunted[r.Name] = true
	}
	violates := func(s scenarios.Scenario) bool {
		return slices.ContainsFunc(checker.Properties(), func(p checker.Property) bool { return s.Expect[p] == checker.Violated })
	}
	for _, s := range scenarios.All() {
		if hunted[s.Name] != violates(s) {
			t.Errorf("%s violates something: %v; it is hunted: %v", s.Name, violates(s), hunted[s.Name])
		}
	}
	for _, s := range scenarios.AllSeries() {
		points, breaks := 0, false
		for _, p := range s.Points {
			breaks = breaks || p.Expect[s.Property] == checker.Violated
			if hunted[p.Name] {
				points++
			}
		}
		if breaks != (points == 1) {
			t.Errorf("%d points of %s are hunted, which violates %s: %v", points, s.Name, s.Property, breaks)
		}
	}
}

// A hunt draws the kinds of faults of the row's plan, and network faults.
func TestFaultsAreThoseOfTheRow(t *testing.T) {
	w, err := find(t, "pause-then-write").Faults(simulated.Backend().Ability)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), "partition,latency,loss,reset,bandwidth,split,pause"; got != want {
		t.Errorf("drawn are %s: want %s", got, want)
	}
}

func find(t *testing.T, name string) fuzz.Rediscovery {
	t.Helper()
	rows := fuzz.Rediscoveries()
	i := slices.IndexFunc(rows, func(r fuzz.Rediscovery) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no row %s", name)
	}
	return rows[i]
}

// Law: violations of the rows are found without their plans, within a number of runs.
// (docs/evidence/hunt.md has the runs and seconds of all rows with fifty seeds.)
func TestFoundWithoutAScript(t *testing.T) {
	for name, most := range map[string]int{
		"crash-restart":       2_000,
		"evicted-key":         5_000,
		"failover":            1_000,
		"client-suspend":      1_000,
		"pause-then-write":    2_000,
		"delayed-write":       5_000,
		"fence-one-node-down": 1_000,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := find(t, name).Hunt(t.Context(), simulated.Backend(), 6, 1)
			if err != nil {
				t.Fatal(err)
			}
			var bag fuzz.Results
			h.Each = func(s fuzz.Run) bool {
				for _, f := range s.Scenario.Plan {
					if h.Faults[f.Action.Kind()] == 0 {
						t.Errorf("run %d has a fault that was not to be drawn: %v", s.Number, f)
					}
				}
				bag.Add(s)
				return !bag.Has(h.Wanted) && bag.Runs < most
			}
			if err := h.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !bag.Has(h.Wanted) {
				t.Errorf("seed 1: of %v only %v is found in %d runs", h.Wanted, bag.Found(), bag.Runs)
			}
			for p, found := range bag.First {
				wantBlamed(t, p, found, h.Causes)
			}
		})
	}
}

// wantBlamed checks that the violation does not happen without the faults that the row blames.
func wantBlamed(t *testing.T, p checker.Property, found fuzz.Run, kinds []nemesis.Kind) {
	t.Helper()
	var others nemesis.Plan
	for _, f := range found.Scenario.Plan {
		if !slices.Contains(kinds, f.Action.Kind()) {
			others = append(others, f)
		}
	}
	control := found.Candidate
	control.Scenario.Plan = others
	r, err := control.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Report.Finding(p).Verdict == checker.Violated {
		t.Errorf("run %d violates %s without any %v too", found.Number, p, kinds)
	}
}

// Rows blame the faults of their plans on nodes, clients or the resource; network faults if
// there are no others; and nothing if they need no plan.
func TestCauses(t *testing.T) {
	for name, want := range map[string][]nemesis.Kind{
		"crash-restart":                {"crash"},
		"pause-then-write-after-check": {"crash", "pause"},
		"fence-increment":              {"partition"},
		"split-vote-fixed-1ms":         nil,
		"ttl-too-short-100ms":          nil, // although it has a kill
	} {
		h, err := find(t, name).Hunt(t.Context(), simulated.Backend(), 6, 1)
		if err != nil || !slices.Equal(h.Causes, want) {
			t.Errorf("%s blames %v, %v: want %v", name, h.Causes, err, want)
		}
	}
}

// Law: no violation is found where none is possible: a lease on nodes without clock and
// machine faults.
func TestNoFalseFinds(t *testing.T) {
	r := find(t, "pause-then-write")
	r.Expect = scenarios.Expectations{checker.Lease: checker.Violated}
	r.Kinds = []nemesis.Kind{"pause", "kill"}
	h, err := r.Hunt(t.Context(), simulated.Backend(), 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	var bag fuzz.Results
	h.Causes = nil // by nobody
	h.Each = func(s fuzz.Run) bool {
		bag.Add(s)
		return bag.Runs < 2_000
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(bag.First) > 0 {
		t.Errorf("%v is broken, in run %d", bag.Found(), bag.First[checker.Lease].Number)
	}
}
