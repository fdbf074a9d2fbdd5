package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// withSweep lets the command know a small sweep: three points of the series on delayed
// restarts, and a boundary.
func withSweep(t *testing.T) {
	t.Helper()
	before := sweeps
	t.Cleanup(func() { sweeps = before })
	sweeps = []namedSweep{{name: "small", make: smallSweep}}
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

// kept is all files of a directory by their names.
func kept(t *testing.T, dir string) map[string]string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range all {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name()] = string(text)
	}
	return found
}

// The output shows the measurements, the formula and whether they agree. The directory contains the
// same for programs.
func TestSweepTellsAndKeeps(t *testing.T) {
	withSweep(t)
	dir := t.TempDir()
	code, out, problems := command(t, "sweep", "small", "--runs", "20", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantNarrow(t, out)
	wantIn(t, out, "small: a node that stays away", "lease exclusion (V1) violated, of 20 runs per point", "RESTART_DELAY [TTL]", "20/20", "[83.89, 100.00]",
		"0/20", "100.00", "The formula is inside the 95 % interval at 3 of 3 points; where it says neither 0 nor 1, at 1 of 1.", "VIOLATED AT",
		"The boundary is where the formula has it, as exactly as it was looked for, at 1 of 1.",
		`Rule 1, "TTL", suffices at 1 of 1.`, `Rule 2, "half", suffices at 0 of 1; not at 4.`)

	found := kept(t, dir)
	for _, name := range []string{"outcomes.jsonl", "points.csv", "boundaries.csv", "summary.md", "small.svg", "small.png"} {
		if found[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	wantIn(t, found["summary.md"], "# small\n", "`lockstorm sweep small --runs 20 --seed 1 --out DIR`", "at 3 of 3 points", "(points.csv)", "(boundaries.csv)", "(small.svg)", "- restart_delay [TTL]: how long the node stays away")
	if strings.Contains(found["summary.md"], dir) {
		t.Error("the summary names a directory of this machine")
	}

	code, printed, _ := command(t, "sweep", "small", "--runs", "20", "--json")
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
	lines := strings.SplitAfter(kept(t, whole)[records], "\n")
	if err := os.WriteFile(filepath.Join(dir, records), []byte(lines[0]+lines[1]+lines[2][:40]), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := sweeps[0].make
	sweeps[0].make = func() sweep.Sweep {
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
	wantIn(t, problems.String(), "interrupted")
	want(t, "lines that are there", strings.Count(kept(t, dir)[records], "\n"), 2)

	sweeps[0].make = s
	code, _, _ = command(t, "sweep", "small", "--runs", "6", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	for name, text := range kept(t, whole) {
		want(t, name, kept(t, dir)[name], text)
	}
}

// A formula that does not fit is exit code 1. Points that were left out have none.
func TestSweepsThatDoNotFit(t *testing.T) {
	withSweep(t)
	wrong := smallSweep()
	one, zero := 1.0, 0.0
	wrong.Points[0].Predicted, wrong.Points[1].Predicted, wrong.Points[2].Predicted = &zero, &zero, &one
	sweeps = append(sweeps, namedSweep{name: "wrong", make: func() sweep.Sweep { return wrong }})
	wrong.Name, wrong.Boundaries = "wrong", nil
	code, out, _ := command(t, "sweep", "wrong", "--runs", "6")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "inside the 95 % interval at 0 of 3 points.")

	far := smallSweep()
	far.Name, far.Points, far.Boundaries[0].Predicted = "far", nil, 0.6
	sweeps = append(sweeps, namedSweep{name: "far", make: func() sweep.Sweep { return far }})
	code, out, _ = command(t, "sweep", "far", "--runs", "6")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "at 0 of 1.", "0.6 ✗")
}

// Points are scenarios with a name, which the other commands know.
func TestPointsOfSweepsAreScenarios(t *testing.T) {
	withSweep(t)
	s := sweeps[0].make
	sweeps[0].make = func() sweep.Sweep {
		small := s()
		small.Points[0].Scenario.Name = "small-at-once"
		return small
	}
	code, out, problems := command(t, "run", "small-at-once", "--runs", "2", "--out", "")
	want(t, "exit code"+problems, code, exitAsExpected)
	wantIn(t, out, "small-at-once: as expected (2 runs)")
	_, out, _ = command(t, "run", "small-at-once", "--faults", "crash", "--runs", "3", "--out", "")
	wantIn(t, out, "lockstorm run small-at-once --faults crash --most 4 --seed 1")
	code, out, _ = command(t, "list", "small-at-once")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "name: small-at-once")
}

func TestSweepsAreListed(t *testing.T) {
	withSweep(t)
	code, out, _ := command(t, "sweep")
	want(t, "exit code", code, exitAsExpected)
	want(t, "list", out, "SWEEP  POINTS  BOUNDARIES  WHAT IT SHOWS\nsmall  3       1           a node that stays away\n")
}

// The scenario of a point, or of a boundary at some x, can be had as a file that runs.
func TestScenariosOfASweepAreShown(t *testing.T) {
	withSweep(t)
	code, out, _ := command(t, "sweep", "small", "--show", "2")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "name: delayed-restart-at-500ms")
	code, out, _ = command(t, "sweep", "small", "--show", "4@0.85")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "after: 850ms")
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, problems := command(t, "run", "--check-only", file)
	want(t, "exit code"+problems, code, exitAsExpected)
}

// A sweep has its own number of runs, and --runs overrides it.
func TestSweepsSayHowManyRuns(t *testing.T) {
	withSweep(t)
	s := smallSweep()
	s.Runs, s.Boundaries = 2, nil
	sweeps[0].make = func() sweep.Sweep { return s }
	_, out, _ := command(t, "sweep", "small")
	wantIn(t, out, "of 2 runs per point")
	_, out, _ = command(t, "sweep", "small", "--runs", "3")
	wantIn(t, out, "of 3 runs per point")
}

// Bad input is one line and exit code 2, and writes nothing.
func TestSweepsOfBadInput(t *testing.T) {
	withSweep(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, "sweep", "small", "--points", "3", "--runs", "2", "--out", other)
	was := kept(t, other)
	for args, says := range map[string]string{
		"sweep none":                                       `unknown sweep "none": there is small`,
		"sweep --runs 3":                                   "name a sweep",
		"sweep small more":                                 `unexpected argument "more": want lockstorm sweep [NAME|SCENARIO]`,
		"sweep small --runs -3":                            "--runs -3: want at least 1",
		"sweep small --runs 0":                             "--runs 0: want at least 1",
		"sweep small --parallel -1":                        "--parallel -1: want at least 1",
		"sweep small --seed -1":                            `--seed "-1": want a whole number from 0`,
		"sweep small --shard 3/2":                          `--shard: the shard "3/2": want i/n`,
		"sweep small --shard 1/2":                          "--shard: want --out",
		"sweep small --shard=":                             `--shard: the shard "": want i/n`,
		"sweep small --shard auto/2":                       "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set",
		"sweep small --points 5":                           "no point 5: want 1 to 4",
		"sweep small --points=":                            `--points: "": want numbers from 1`,
		"sweep small --points 3-2":                         `"3-2": want numbers from 1 to`,
		"sweep small --points 1-999999999":                 `"1-999999999": want numbers from 1 to`,
		"sweep small --points 1-x":                         `"1-x": want numbers from 1 to`,
		"sweep small --show x":                             "--show x: want the number of a point",
		"sweep small --show 4":                             "--show 4: numbers up to 3 are points",
		"sweep small --show 2@1":                           "--show 2@1: numbers up to 3 are points",
		"sweep small --show 4@NaN":                         "--show 4@NaN: want the number of a point",
		"sweep small --show 4@-1":                          "--show 4@-1: want the number of a point",
		"sweep small --show 4@1e300":                       "--show 4@1e300: want the number of a point",
		"sweep small --show 5@1":                           "no point 5: want 1 to 4",
		"sweep small --backend none":                       `unknown backend "none"`,
		"sweep small --runs 2 --out " + file:               "not a directory",
		"sweep small --points 3 --runs 3 --out " + other:   "it is of another sweep: runs 2, and not 3",
		"sweep small --points 3 --runs 3 --merge " + other: "--merge: " + other + "/shard-1-of-1.jsonl: it is of another sweep: runs 2, and not 3",
		"sweep small --merge " + dir:                       "--merge: " + dir + " has no shard",
	} {
		code, out, problems := command(t, strings.Fields(args)...)
		if code != exitBadInput || out != "" || !strings.Contains(problems, says) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, problems, says)
		}
	}
	for name, text := range kept(t, other) {
		want(t, name, text, was[name])
	}
}
