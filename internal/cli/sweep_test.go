package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// withSweep lets the command know a small sweep: three points of the series on delayed
// restarts, and a boundary.
func withSweep(t *testing.T) {
	t.Helper()
	before := sweeps
	t.Cleanup(func() { sweeps = before })
	sweeps = []series.Named{{Name: "small", Make: smallSweep}}
}

func smallSweep() sweep.Sweep {
	s := sweep.Sweep{
		Name: "small", Summary: "a node that stays away", Property: checker.Lease,
		Params: []sweep.Param{{Name: "restart_delay", Unit: "TTL", Summary: "how long the node stays away"}},
		Boundaries: []sweep.Boundary{{
			Curve: "one holder", Scenario: staysAway, Low: 0.5, High: 1.3, Within: 0.1, Predicted: 0.87,
			Rules: map[string]float64{"TTL": 1, "half": 0.5},
		}},
	}
	for _, series := range scenarios.AllSeries() {
		if series.Name != "delayed-restart" {
			continue
		}
		for i, x := range map[int]float64{0: 0, 5: 0.5, 14: 1.2} {
			p := max(0, 1-x/0.988)
			s.Points = append(s.Points, sweep.Point{Curve: "plain", At: []float64{x}, Scenario: series.Points[i].Scenario, Predicted: &p})
		}
	}
	slices.SortFunc(s.Points, func(a, b sweep.Point) int { return int(1000 * (a.At[0] - b.At[0])) })
	return s
}

// staysAway is the row on delayed restarts with another delay, in TTLs.
func staysAway(x float64) scenarios.Scenario {
	s, err := scenarios.Find("delayed-restart")
	if err != nil {
		panic(err)
	}
	s.Plan = slices.Clone(s.Plan)
	for i := range s.Plan {
		if s.Plan[i].Action.Kind() == "crash" {
			s.Plan[i].End = nemesis.After(time.Duration(x * float64(time.Second)))
		}
	}
	s.Expect = nil
	return s
}

// The directory of a sweep has what is printed, for programs; a second time nothing is measured.
func TestSweepTellsAndKeeps(t *testing.T) {
	withSweep(t)
	dir := t.TempDir()
	code, out, problems := command(t, "sweep", "small", "--runs", "20", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantIn(t, out, "The formula is inside the 95 % interval at 3 of 3 points; where it says neither 0 nor 1, at 1 of 1.",
		"The boundary is where the formula has it, as exactly as it was looked for, at 1 of 1.",
		`Rule 1, "TTL", suffices at 1 of 1.`, `Rule 2, "half", suffices at 0 of 1; not at 4.`)
	want(t, "files", inDir(t, dir), "boundaries.csv outcomes.jsonl points.csv shard-1-of-1.jsonl small.png small.svg summary.md")
	wantIn(t, read(t, filepath.Join(dir, "summary.md")), "`lockstorm sweep small --runs 20 --seed 1 --out DIR`", "at 3 of 3 points")

	code, printed, _ := command(t, "sweep", "small", "--runs", "20", "--format", "json")
	want(t, "exit code", code, exitAsExpected)
	var r struct {
		Complete bool
		Points   []struct {
			Interval []float64
			Inside   bool
		}
	}
	if err := json.Unmarshal([]byte(printed), &r); err != nil || !r.Complete || len(r.Points) != 3 || r.Points[0].Interval[1] != 1 || !r.Points[0].Inside {
		t.Errorf("%+v, %v", r, err)
	}
	code, again, problems := command(t, "sweep", "small", "--runs", "20", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	want(t, "what is printed the second time", again, out)
	want(t, "problems", problems, "")
}

// A sweep that is stopped prints its results so far, and continues at the next start.
func TestSweepIsStoppedAndGoesOn(t *testing.T) {
	withSweep(t)
	whole, dir := t.TempDir(), t.TempDir()
	command(t, "sweep", "small", "--runs", "6", "--out", whole)

	// The records as they are when the program was stopped in its third line.
	records := shard.FileName(shard.Whole)
	lines := strings.SplitAfter(read(t, filepath.Join(whole, records)), "\n")
	write(t, filepath.Join(dir, records), lines[0]+lines[1]+lines[2][:40])
	ctx, stop := context.WithCancel(t.Context())
	s := sweeps[0].Make
	sweeps[0].Make = func() sweep.Sweep {
		small := s()
		small.Boundaries[0].Scenario = func(x float64) scenarios.Scenario {
			stop() // as somebody who presses Ctrl-C
			return staysAway(x)
		}
		return small
	}
	var out, problems bytes.Buffer
	code := execute(ctx, []string{"sweep", "small", "--runs", "6", "--out", dir}, strings.NewReader(""), &out, &problems)
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out.String(), "The same command continues from here.")
	want(t, "lines that are there", strings.Count(read(t, filepath.Join(dir, records)), "\n"), 2)

	sweeps[0].Make = s
	code, _, _ = command(t, "sweep", "small", "--runs", "6", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	wantSameTree(t, whole, dir)
}

// A formula that does not fit is exit code 1. Points that were left out have none.
func TestSweepsThatDoNotFit(t *testing.T) {
	withSweep(t)
	wrong := smallSweep()
	one, zero := 1.0, 0.0
	wrong.Points[0].Predicted, wrong.Points[1].Predicted, wrong.Points[2].Predicted = &zero, &zero, &one
	sweeps = append(sweeps, series.Named{Name: "wrong", Make: func() sweep.Sweep { return wrong }})
	wrong.Name, wrong.Boundaries = "wrong", nil
	code, out, _ := command(t, "sweep", "wrong", "--runs", "6")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "inside the 95 % interval at 0 of 3 points.")

	far := smallSweep()
	far.Name, far.Points, far.Boundaries[0].Predicted = "far", nil, 0.6
	sweeps = append(sweeps, series.Named{Name: "far", Make: func() sweep.Sweep { return far }})
	code, out, _ = command(t, "sweep", "far", "--runs", "6")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "at 0 of 1.", "0.6 ✗")
}

func TestParseVaried(t *testing.T) {
	for text, want := range map[string]string{
		"lock.ttl=0.5s..1s:3":             "[500ms 750ms 1s] [0.5 0.75 1] s",
		"plan[0].end.after=0..1ms:3":      "[0s 500µs 1ms] [0 0.0005 0.001] s",
		"lock.retry.max=10ms..100ms:4":    "[10ms 40ms 70ms 100ms] [0.01 0.04 0.07 0.1] s",
		"nodes=3..5":                      "[3 4 5] [3 4 5] ",
		"lock.drift_factor=0.01..0.02:3":  "[0.01 0.015 0.02] [0.01 0.015 0.02] ",
		"lock.ttl=1s,200ms":               "[1s 200ms] [1 0.2] s",
		"lock.kind=redlock,single-node":   "[redlock single-node] [] ",
		"plan[0].clock-rate.ppm=-5..5:11": "[-5 -4 -3 -2 -1 0 1 2 3 4 5] [-5 -4 -3 -2 -1 0 1 2 3 4 5] ",
	} {
		v, err := parseVaried(text)
		if got := fmt.Sprint(v.values, " ", v.numbers, " ", v.unit); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}
