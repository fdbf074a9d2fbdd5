package sweep_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// away is the row on delayed restarts with a node that stays away for x TTLs (of 1 s). The
// crash comes when almost all of the validity of 0.988 is left.
func away(x float64) scenarios.Scenario {
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
	s.Name = fmt.Sprintf("away-for-%.0fus", 1e6*x)
	s.Expect = nil
	return s
}

// small is a sweep of a few points of the series on delayed restarts, and a boundary.
func small() sweep.Sweep {
	s := sweep.Sweep{
		Name: "small", Summary: "a node that stays away", Property: checker.Lease,
		Params: []sweep.Param{
			{Name: "restart_delay", Unit: "TTL", Summary: "how long the node stays away"},
			{Name: "crashes", Summary: "how many nodes crash"},
		},
		Boundaries: []sweep.Boundary{{
			Curve: "one holder", At: []float64{1}, Scenario: away,
			Low: 0.5, High: 1.3, Within: 0.1, Predicted: 0.94, Rules: map[string]float64{"TTL": 1, "half, or so": 0.5},
		}},
	}
	for _, series := range scenarios.AllSeries() {
		if series.Name != "delayed-restart" {
			continue
		}
		for _, i := range []int{0, 5, 9, 14} {
			x := []float64{5: 0.5, 9: 0.9, 14: 1.2}[i]
			p := max(0, 1-x/0.988)
			s.Points = append(s.Points, sweep.Point{Curve: `plain, "no" persistence`, At: []float64{x, 1}, Scenario: series.Points[i].Scenario, Predicted: &p})
		}
	}
	return s
}

func measurement() sweep.Measurement {
	return sweep.Measurement{Sweep: small(), Backend: simulated.Backend(), Runs: 6, First: 1, SideBySide: 2, Versions: map[string]string{"go": "one"}}
}

func head(t *testing.T, c sweep.Measurement) sweep.Head {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	h, err := c.Head()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run continues a measurement in a directory until ctx ends, and saves the results.
func run(ctx context.Context, t *testing.T, c sweep.Measurement, dir string) sweep.Results {
	t.Helper()
	h := head(t, c)
	log, err := shard.Open(dir, shard.Work{Kind: "sweep", Of: h}, shard.Whole)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	return runLog(ctx, t, c, log, dir)
}

// runLog is run with a log.
func runLog(ctx context.Context, t *testing.T, c sweep.Measurement, log *shard.Log, dir string) sweep.Results {
	t.Helper()
	r := sweep.Results{Head: head(t, c)}
	err := c.Run(ctx, log, func(o sweep.Outcome) error {
		r.Outcomes = append(r.Outcomes, o)
		return nil
	})
	if err == nil && r.Complete() {
		err = r.Save(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// content returns all files of a directory, concatenated.
func content(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range all {
		b.WriteString("== " + f.Name() + "\n" + read(t, filepath.Join(dir, f.Name())))
	}
	return b.String()
}

var read, write = testkit.Read, testkit.Write

// long is a measurement of a point with two blocks, and of a boundary.
func long() sweep.Measurement {
	c := measurement()
	c.Runs, c.Only = 1001, []int{4, 5}
	c.Sweep.Points[3].Predicted = nil
	b := &c.Sweep.Boundaries[0]
	b.Within, b.Rules = 1, nil
	return c
}

// Law: a measurement that is stopped, even in the middle of a line, and continued, ends with the same
// bytes as one that was never stopped.
func TestContinued(t *testing.T) {
	whole := t.TempDir()
	run(t.Context(), t, measurement(), whole)
	want := content(t, whole)
	lines := strings.SplitAfter(read(t, filepath.Join(whole, shard.FileName(shard.Whole))), "\n")
	for k := range lines {
		dir := t.TempDir()
		torn := lines[k][:max(0, len(lines[k])-1)*(k%4)/3] // nothing of it, or all but its end, or between
		write(t, filepath.Join(dir, shard.FileName(shard.Whole)), strings.Join(lines[:k], "")+torn)
		run(t.Context(), t, measurement(), dir)
		if got := content(t, dir); got != want {
			t.Fatalf("after %d lines and %d bytes:\n%s\nand not:\n%s", k, len(torn), got, want)
		}
	}
}

// Law: results that are joined from shards are those of one process.
func TestJoined(t *testing.T) {
	c, whole := long(), t.TempDir()
	runLog(t.Context(), t, c, nil, whole)
	want := content(t, whole)
	work := shard.Work{Kind: "sweep", Of: head(t, c)}
	for _, n := range []int{4} { // more than there are blocks
		dir, merged := t.TempDir(), t.TempDir()
		for i := range n {
			log, err := shard.Open(dir, work, shard.Shard{I: i + 1, N: n})
			if err != nil {
				t.Fatal(err)
			}
			if runLog(t.Context(), t, c, log, t.TempDir()); !log.Finished() || c.Work(log) != 0 {
				t.Errorf("shard %d/%d is not finished", i+1, n)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
		log, err := shard.Join([]string{dir}, work)
		if err != nil {
			t.Fatal(err)
		}
		runLog(t.Context(), t, c, log, merged)
		if got := content(t, merged); got != want {
			t.Errorf("%d shards:\n%s\nand not:\n%s", n, got, want)
		}
	}
}

// A unit that is stopped in the middle is not stored: it has so many runs that some have not
// begun when the first ends.
func TestStoppedWithinAUnit(t *testing.T) {
	for unit, runs := range map[int]int{2: 60, 5: 200} {
		c := measurement()
		c.Runs, c.Only, c.SideBySide = runs, []int{unit}, 1
		ctx, stop := context.WithCancel(t.Context())
		open := c.Backend.Open
		c.Backend.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
			if seed == c.First+uint64((unit-1)*runs)+1 {
				stop()
			}
			return open(ctx, s, seed, sink)
		}
		if unit == 5 { // whose first trial ends early in any case
			c.Sweep.Boundaries[0].Scenario = func(float64) scenarios.Scenario { return away(1.2) }
		}
		if r := run(ctx, t, c, t.TempDir()); len(r.Outcomes) != 0 {
			t.Errorf("unit %d: %s", unit, encoded(t, r.Outcomes))
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Invalid measurements fail before anything runs.
func TestInvalidCampaigns(t *testing.T) {
	two, nan := 2.0, math.NaN()
	for want, change := range map[string]func(*sweep.Measurement){
		"-3 runs: want at least 1":                     func(c *sweep.Measurement) { c.Runs = -3 },
		"0 runs side by side":                          func(c *sweep.Measurement) { c.SideBySide = 0 },
		"no point 6: want 1 to 5":                      func(c *sweep.Measurement) { c.Only = []int{1, 6} },
		"no point 0":                                   func(c *sweep.Measurement) { c.Only = []int{0} },
		"point 2 is named twice":                       func(c *sweep.Measurement) { c.Only = []int{2, 2} },
		"30 seeds are needed":                          func(c *sweep.Measurement) { c.First = math.MaxUint64 - 5 },
		"want a name":                                  func(c *sweep.Measurement) { c.Sweep.Name = "a/b" },
		"no property":                                  func(c *sweep.Measurement) { c.Sweep.Property = "" },
		"no parameter":                                 func(c *sweep.Measurement) { c.Sweep.Params = nil },
		"the parameter \"two words\"":                  func(c *sweep.Measurement) { c.Sweep.Params[1].Name = "two words" },
		"neither points nor boundaries":                func(c *sweep.Measurement) { c.Sweep.Points, c.Sweep.Boundaries = nil, nil },
		"1 values for 2 parameters":                    func(c *sweep.Measurement) { c.Sweep.Points[1].At = []float64{1} },
		"want finite numbers":                          func(c *sweep.Measurement) { c.Sweep.Points[1].At = []float64{nan, 1} },
		"a predicted probability of 2":                 func(c *sweep.Measurement) { c.Sweep.Points[1].Predicted = &two },
		"a predicted probability of NaN":               func(c *sweep.Measurement) { c.Sweep.Points[1].Predicted = &nan },
		"point 2 (delayed-restart-at-0ms): another":    func(c *sweep.Measurement) { c.Sweep.Points[1].Scenario = c.Sweep.Points[0].Scenario },
		"2 fixed values for 2 parameters":              func(c *sweep.Measurement) { c.Sweep.Boundaries[0].At = []float64{1, 2} },
		"from 1.3 to 1.3":                              func(c *sweep.Measurement) { c.Sweep.Boundaries[0].Low = 1.3 },
		"within 0: want":                               func(c *sweep.Measurement) { c.Sweep.Boundaries[0].Within = 0 },
		"boundary 5 (one holder): no scenario":         func(c *sweep.Measurement) { c.Sweep.Boundaries[0].Scenario = nil },
		"boundary 5 (one holder): plan[1].end":         func(c *sweep.Measurement) { c.Sweep.Boundaries[0].Rules["TTL"] = -1 },
		"boundary 5 (one holder): values [":            func(c *sweep.Measurement) { c.Sweep.Boundaries[0].Rules["TTL"] = math.Inf(1) },
		"point 1 (delayed-restart-at-0ms): lock.ttl":   func(c *sweep.Measurement) { c.Sweep.Points[0].Scenario.Lock.TTL = 0 },
		"point 3 (delayed-restart-at-900ms): lock.kin": func(c *sweep.Measurement) { c.Sweep.Points[2].Scenario.Lock.Kind = "none" },
	} {
		c := measurement()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A predicted 0 or 1 gets a tenth of the runs, but at least a hundred.
func TestRunsOfAPoint(t *testing.T) {
	for _, c := range []struct {
		runs      int
		predicted *float64
		want      int
	}{
		{9604, nil, 9604}, {9604, new(0.5), 9604}, {9604, new(0.0), 960}, {9604, new(1.0), 960},
		{500, new(0.0), 100}, {100, new(1.0), 100}, {7, new(0.0), 7},
	} {
		got := sweep.Runs(c.runs, c.predicted)
		if got != c.want {
			t.Errorf("of %d runs, predicted %v: got %d, want %d", c.runs, c.predicted, got, c.want)
		}
	}
}
