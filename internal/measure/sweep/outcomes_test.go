package sweep_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/scenarios"
)

// What a directory has of another measurement, or of somebody else, is not written over.
func TestFree(t *testing.T) {
	dir, points, drawn := t.TempDir(), t.TempDir(), t.TempDir()
	c := measurement()
	c.Only = []int{4}
	run(t.Context(), t, c, dir)
	write(t, filepath.Join(points, sweep.PointsFile), "mine")
	write(t, filepath.Join(drawn, "small-plain.png"), "mine")
	h := head(t, c)
	for _, free := range []string{dir, t.TempDir(), filepath.Join(dir, "none")} {
		if err := h.Free(free); err != nil {
			t.Error(err)
		}
	}
	h.Runs = 7
	for d, want := range map[string]string{
		dir: "it is of another sweep: runs 6, and not 7", points: "has points.csv and no outcomes.jsonl", drawn: "has small-plain.png and no outcomes.jsonl",
	} {
		if err := h.Free(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// An invalid file of outcomes is an error.
func TestInvalidFilesAreRefused(t *testing.T) {
	whole := t.TempDir()
	c := measurement()
	c.Only = []int{3, 4}
	run(t.Context(), t, c, whole)
	good := read(t, filepath.Join(whole, sweep.OutcomesFile))
	lines := strings.SplitAfter(good, "\n")
	for text, want := range map[string]string{
		"hello": "not the file of a sweep",
		"{}\n":  "not the file of a sweep",
		strings.Replace(good, `"version":1`, `"version":9`, 1): "version 9; this program reads version 1",
		strings.Replace(good, `"runs"`, `"runes"`, 1):          "line 1: ",
		lines[0] + lines[2]:            "line 2: unit 4, where 3 follows",
		good + lines[2]:                "line 4: one outcome more than the 2",
		lines[0] + "{\n":               "line 2: ",
		lines[0] + `{"unit":3}` + "\n": "line 2: want a point or a boundary",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, sweep.OutcomesFile), text)
		if _, err := sweep.Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
	}
	if _, err := sweep.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not the directory of a sweep") {
		t.Error(err)
	}
}

// Intervals follow from the counts. That of 5 of 10 is Wilson's formula by hand: (0.5 + z²/20
// ± z √(1/40 + z²/400)) / (1 + z²/10).
func TestIntervalsAndWhatIsInside(t *testing.T) {
	point := func(violated, held int, predicted float64) sweep.PointResult {
		return sweep.PointResult{Violated: violated, Held: held, Undecided: 100, Predicted: &predicted}
	}
	five := point(5, 5, 0.24)
	if lo, hi := five.Interval(); fmt.Sprintf("%.4f %.4f %.4f", lo, hi, five.HalfWidth()) != "0.2366 0.7634 0.2634" {
		t.Errorf("[%v, %v], half %v", lo, hi, five.HalfWidth())
	}
	for _, c := range []struct {
		m             sweep.PointResult
		inside, known bool
	}{
		{five, true, true},
		{point(5, 5, 0.23), false, true},
		{point(5, 5, 0.77), false, true},
		{point(0, 10, 0), true, true},
		{point(10, 0, 1), true, true},
		{point(0, 10, 0.5), false, true},
		{point(0, 0, 0.5), false, false},
		{sweep.PointResult{Violated: 1, Held: 1}, false, false},
	} {
		if inside, known := c.m.Inside(); inside != c.inside || known != c.known {
			t.Errorf("%v: inside %t, known %t", c.m.Rate(), inside, known)
		}
	}
	if r := five.Rate(); r != (runner.Rate{K: 5, N: 10}) {
		t.Errorf("what is undecided counts: %v", r)
	}
	var r sweep.Results
	for i := range 20 {
		p := point(5, 5, map[bool]float64{true: 0.5, false: 0.9}[i >= 3])
		sure := point(0, 10, 0)
		r.Outcomes = append(r.Outcomes, sweep.Outcome{Point: &p}, sweep.Outcome{Point: &sure})
	}
	if f := r.Fit(); f.Points != 40 || f.Compared != 40 || f.Inside != 37 || f.Between != 20 || f.Hit != 17 || f.Good() {
		t.Errorf("what is certain hides what is not: %+v, good %t", f, f.Good())
	}
	for missed, good := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		if f := (sweep.Fit{Compared: 20, Inside: 20 - missed}); f.Good() != good {
			t.Errorf("%d of 20 missed: good %t", missed, f.Good())
		}
	}
}

// A tenth of the points, rounded up, may be missed by the formula, but not by a count that is all but
// impossible. By the formula 0.5, no violation in n runs has the probability 2⁻ⁿ: 10⁻⁴ is between 13 and 14.
func TestAllButImpossibleCountsRefute(t *testing.T) {
	for _, c := range []struct {
		violated, held int
		predicted      float64
		good           bool
	}{
		{1, 50, 0, false}, {50, 1, 1, false}, {0, 50, 0, true}, {50, 0, 1, true}, {0, 0, 1, true},
		{0, 13, 0.5, true}, {0, 14, 0.5, false}, {14, 0, 0.5, false}, {5, 5, 0.9, true}, {500, 500, 0.9, false},
	} {
		r := sweep.Results{Outcomes: []sweep.Outcome{{Point: &sweep.PointResult{Violated: c.violated, Held: c.held, Predicted: &c.predicted}}}}
		if f := r.Fit(); f.Good() != c.good {
			t.Errorf("%d violated, %d held, predicted %v: good %t", c.violated, c.held, c.predicted, f.Good())
		}
	}
}

func TestGoldenTables(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the runs are those of amd64: floating point may differ between architectures")
	}
	dir := t.TempDir()
	run(t.Context(), t, measurement(), dir)
	for _, name := range []string{sweep.PointsFile, sweep.BoundariesFile} {
		testkit.GoldenFile(t, "testdata/"+name, read(t, filepath.Join(dir, name)), "A table has other columns, or runs have changed.")
	}
}

// A failing run ends the measurement. The error names the point, and earlier outcomes are kept.
func TestBrokenRunsAreNamed(t *testing.T) {
	c := measurement()
	c.Sweep.Boundaries = []sweep.Boundary{{
		Curve: "one", At: []float64{1}, Low: 0, High: 1, Within: 0.1, Predicted: 0.5,
		Scenario: func(x float64) scenarios.Scenario {
			s := away(0.1 + x)
			if x == 0.75 {
				s.Lock.TTL = 0
			}
			return s
		},
	}}
	c.Only = []int{4, 5}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var done []int
	err := c.Run(t.Context(), nil, func(o sweep.Outcome) error { done = append(done, o.Unit); return nil })
	if err == nil || !strings.Contains(err.Error(), "boundary 5 (one): at 0.75: lock.ttl") || fmt.Sprint(done) != "[4]" {
		t.Errorf("%v, done %v", err, done)
	}
}
