package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/sweep"
)

// thinSweep says how a sweep is measured again: at some of its points, spread over it, with some
// runs each. The results are no more exact than halfWidth.
type thinSweep struct {
	points, runs int
	halfWidth    float64
}

var thin = map[string]thinSweep{
	"restart-delay":           {24, 200, 0.07},
	"restart-delay-price":     {5, 40, 0.16},
	"restart-delay-reference": {20, 5, 0.3},
	"restart-boundary":        {8, 20, 0},
	"drift":                   {24, 100, 0.1},
	"drift-edge":              {12, 200, 0.07},
}

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

// The reference measurements fit their formulas, and a thinned version that is run with
// other seeds agrees with them.
func TestMeasurementsAreThoseOfTheProgram(t *testing.T) {
	for _, named := range sweeps {
		t.Run(named.name, func(t *testing.T) {
			t.Parallel()
			reference := measurements(t, "reference", named.name)
			fit := reference.Fit()
			if bound := exact[named.name]; bound > 0 && fit.HalfWidth > bound {
				t.Errorf("the widest interval is ± %v, more than ± %v", fit.HalfWidth, bound)
			}
			if !fit.Good() {
				t.Errorf("the formula does not fit: %+v", fit)
			}
			byUnit := map[int]sweep.Outcome{}
			for _, o := range reference.Outcomes {
				byUnit[o.Unit] = o
			}
			for _, o := range measuredAgain(t, named.name, reference.First+uint64(reference.Units()*reference.Runs)) {
				mustAgree(t, byUnit[o.Unit], o, thin[named.name].halfWidth)
			}
		})
	}
}

// measuredAgain measures a thinned sweep.
func measuredAgain(t *testing.T, name string, first uint64) (all []sweep.Outcome) {
	t.Helper()
	s, err := findSweep(name)
	if err != nil {
		t.Fatal(err)
	}
	how := thin[name]
	c := sweep.Measurement{Sweep: s, Backend: backends[0].Backend, Runs: how.runs, First: first, SideBySide: runtime.NumCPU()}
	for i := range how.points {
		c.Only = append(c.Only, 1+i*s.Units()/how.points)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context(), nil, func(o sweep.Outcome) error {
		all = append(all, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustAgree(t *testing.T, reference, again sweep.Outcome, halfWidth float64) {
	t.Helper()
	if reference.Curve != again.Curve || !slices.Equal(reference.At, again.At) {
		t.Fatalf("point %d is %s %v, and was %s %v", again.Unit, again.Curve, again.At, reference.Curve, reference.At)
	}
	if again.Point != nil {
		lo, hi := again.Point.Interval()
		lo2, hi2 := reference.Point.Interval()
		if lo > hi2 || lo2 > hi {
			t.Errorf("point %d, %s %v: [%v, %v], and it was [%v, %v]", again.Unit, again.Curve, again.At, lo, hi, lo2, hi2)
		}
		if got := again.Point.HalfWidth(); got > halfWidth {
			t.Errorf("point %d is known to ± %v, which says nothing", again.Unit, got)
		}
		return
	}
	was, is := reference.Boundary, again.Boundary
	if !was.Met() {
		t.Errorf("boundary %d is not where the formula has it", again.Unit)
	}
	if !is.Bracketed() || *is.LastViolated > *was.FirstHolding || *was.LastViolated > *is.FirstHolding {
		t.Errorf("boundary %d: it was between %v and %v, and is between %v and %v", again.Unit, *was.LastViolated, *was.FirstHolding, *is.LastViolated, *is.FirstHolding)
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

// Every figure and picture that docs/evidence/measurements.md shows is there.
func TestPageOfMeasurementsShowsAllSweeps(t *testing.T) {
	text, err := os.ReadFile("../../docs/evidence/measurements.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sweeps {
		wantIn(t, string(text), "results/reference/"+s.name+"/summary.md")
	}
}
