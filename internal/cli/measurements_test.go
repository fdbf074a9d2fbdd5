package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// exact is the half-width of the widest interval that the reference of a sweep may have.
var exact = map[string]float64{"restart-delay": 0.01, "drift-edge": 0.01, "drift": 0.04}

func measurements(t *testing.T, backend, name string) sweep.Results {
	t.Helper()
	r, err := sweep.Load(filepath.Join("..", "..", "results", backend, name))
	if err != nil {
		t.Fatalf("%v; make measurements makes it", err)
	}
	if !r.Complete() {
		t.Fatalf("%s: %d of %d points", name, len(r.Outcomes), r.Units())
	}
	return r
}

// The reference measurements fit their formulas. That the program does is tested beside the sweeps.
func TestMeasurementsFitTheirFormulas(t *testing.T) {
	for _, named := range sweeps {
		r := measurements(t, "reference", named.name)
		fit := r.Fit()
		if bound := exact[named.name]; bound > 0 && fit.HalfWidth > bound {
			t.Errorf("%s: the widest interval is ± %v, more than ± %v", named.name, fit.HalfWidth, bound)
		}
		if !fit.Good() {
			t.Errorf("%s: the formula does not fit: %+v", named.name, fit)
		}
		for _, o := range r.Boundaries() {
			if !o.Boundary.Met() {
				t.Errorf("%s: boundary %d is not where the formula has it", named.name, o.Unit)
			}
		}
	}
}

// Real servers show at each of the points what the simulator shows there.
func TestRealServersAgreeOnTheRestartDelay(t *testing.T) {
	simulated, served := measurements(t, "reference", "restart-delay-reference"), measurements(t, "process", "restart-delay-reference")
	if len(served.Outcomes) < 20 {
		t.Errorf("%d points", len(served.Outcomes))
	}
	var seen []checker.Verdict
	for i, o := range served.Outcomes {
		got, want := verdictAt(o), verdictAt(simulated.Outcomes[i])
		if got != want || o.Unit != simulated.Outcomes[i].Unit {
			t.Errorf("point %d, %s %v: %s, and simulated %s", o.Unit, o.Curve, o.At, got, want)
		}
		seen = append(seen, got)
	}
	for _, v := range []checker.Verdict{checker.Violated, checker.Holds} {
		if !slices.Contains(seen, v) {
			t.Errorf("no point is %s", v)
		}
	}
}

// verdictAt is what the runs of a point amount to.
func verdictAt(o sweep.Outcome) checker.Verdict {
	switch p := o.Point; {
	case p.Violated > 0:
		return checker.Violated
	case p.Held == o.Runs:
		return checker.Holds
	}
	return checker.Unknown
}

// Law: the committed tables, pictures and summaries of sweeps are those of the committed data.
func TestEachStoredSweepIsCurrent(t *testing.T) {
	stored, err := filepath.Glob(filepath.Join("..", "..", "results", "*", "*", sweep.OutcomesFile))
	if err != nil || len(stored) < len(sweeps) {
		t.Fatalf("%d sweeps are stored (%v)", len(stored), err)
	}
	for _, journal := range stored {
		dir, made := filepath.Dir(journal), t.TempDir()
		r, err := sweep.Load(dir)
		if err == nil {
			err = saveSweep(made, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range kept(t, made) {
			if filepath.Ext(name) != ".png" {
				testkit.GoldenFile(t, filepath.Join(dir, name), text, "The stored data give another file.")
			}
		}
	}
}

// Law: the page of measurements has the main lines of the committed summaries, of all sweeps.
func TestPageOfMeasurementsIsCurrent(t *testing.T) {
	const path = "../../docs/evidence/measurements.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sweeps {
		wantIn(t, string(page), "results/reference/"+s.name+"/summary.md")
	}
	sections := regexp.MustCompile(`(?s)(<!-- ((?:reference|process)/[a-z-]+) -->\n[^\n]*\n\n)(.*?)(<!-- /)`)
	renewed := sections.ReplaceAllStringFunc(string(page), func(section string) string {
		m := sections.FindStringSubmatch(section)
		r, err := sweep.Load(filepath.Join("..", "..", "results", filepath.FromSlash(m[2])))
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, l := range report.CampaignLines(r) {
			lines.WriteString("- " + l + "\n")
		}
		return m[1] + lines.String() + m[4]
	})
	testkit.GoldenFile(t, path, renewed, "The stored data give other lines.")
}
