package sweep_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A directory with another measurement is an error, which says what differs, and the directory is
// unchanged.
func TestAnotherCampaignIsRefused(t *testing.T) {
	dir := t.TempDir()
	c := measurement()
	c.Only = []int{4}
	run(t.Context(), t, c, dir)
	was := content(t, dir)
	for want, change := range map[string]func(*sweep.Measurement){
		"runs 6, and not 7":          func(c *sweep.Measurement) { c.Runs = 7 },
		"first seed 1, and not 2":    func(c *sweep.Measurement) { c.First = 2 },
		"chosen [4], and not [1,4]":  func(c *sweep.Measurement) { c.Only = []int{1, 4} },
		"chosen [4], and not all":    func(c *sweep.Measurement) { c.Only = nil },
		"sweep small, and not other": func(c *sweep.Measurement) { c.Sweep.Name = "other" },
		"property lease, and not section": func(c *sweep.Measurement) {
			c.Sweep.Property = checker.Section
		},
		"shard none, and not 1/2":                     func(c *sweep.Measurement) { c.Shard = sweep.Shard{I: 1, Of: 2} },
		`versions {"go":"one"}, and not {"go":"two"}`: func(c *sweep.Measurement) { c.Versions = map[string]string{"go": "two"} },
		"its scenarios or numbers are others":         func(c *sweep.Measurement) { c.Sweep.Points[3].Predicted = nil },
		"params [":                                    func(c *sweep.Measurement) { c.Sweep.Params[0].Unit = "s" },
	} {
		c := measurement()
		c.Only = []int{4}
		change(&c)
		j, err := sweep.OpenJournal(dir, head(t, c))
		if err == nil {
			_ = j.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "it is another sweep: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if content(t, dir) != was {
			t.Fatalf("%s: the directory was changed", want)
		}
	}
}

// Law: a version of this program that makes the same runs may continue and merge what another has
// begun. The results name both, and otherwise have the same bytes.
func TestVersionsOfTheProgramAreNamed(t *testing.T) {
	by := func(version string, only ...int) sweep.Measurement {
		c := measurement()
		c.Only = only
		c.Versions = map[string]string{"go": "one", "lockstorm": version}
		return c
	}
	program := func(dir string) string {
		r, err := sweep.ReadJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		return runner.Program(r.Versions)
	}
	whole := t.TempDir()
	run(t.Context(), t, by("v1", 3, 4), whole)
	if got := program(whole); got != "v1" {
		t.Errorf("the sweep was made by %q", got)
	}
	if points := read(t, filepath.Join(whole, sweep.PointsFile)); strings.Count(points, ",v1\n") != 2 || !strings.Contains(points, ",lockstorm\n") {
		t.Errorf("the points do not say who made them:\n%s", points)
	}
	was := read(t, filepath.Join(whole, sweep.JournalFile))
	run(t.Context(), t, by("v2", 3, 4), whole) // nothing is left to do
	if is := read(t, filepath.Join(whole, sweep.JournalFile)); is != was {
		t.Errorf("a sweep that was complete is now\n%s", is)
	}

	begun := t.TempDir()
	lines := strings.SplitAfter(was, "\n")
	write(t, filepath.Join(begun, sweep.JournalFile), lines[0]+lines[1]+lines[2][:9])
	run(t.Context(), t, by("v2", 3, 4), begun)
	if got := program(begun); got != "v1 and v2" {
		t.Errorf("the sweep that was continued was made by %q", got)
	}
	if is := read(t, filepath.Join(begun, sweep.JournalFile)); strings.Replace(is, `"v1 and v2"`, `"v1"`, 1) != was {
		t.Errorf("the sweep that was continued is\n%s", is)
	}

	var shards []string
	for i, version := range []string{"v1", "v2"} {
		c, dir := by(version, 3, 4), t.TempDir()
		c.Shard = sweep.Shard{I: i + 1, Of: 2}
		run(t.Context(), t, c, dir)
		shards = append(shards, dir)
	}
	merged, err := sweep.Merge(shards)
	if err != nil || runner.Program(merged.Versions) != "v1 and v2" {
		t.Errorf("the merged sweep was made by %q (%v)", runner.Program(merged.Versions), err)
	}
}

// If the program runs the same scenarios differently, it is another measurement.
func TestAnotherProgramIsRefused(t *testing.T) {
	c, dir := measurement(), t.TempDir()
	c.Only = []int{4}
	run(t.Context(), t, c, dir)
	h := head(t, c)
	h.Traces = strings.Map(func(r rune) rune { return '0' + '9' - min(r, '9') }, h.Traces)
	if j, err := sweep.OpenJournal(dir, h); err == nil || !strings.Contains(err.Error(), "the same seeds give other runs") {
		t.Errorf("%v, %v", j, err)
	}
}

// An invalid measurement file is an error, and is unchanged.
func TestInvalidFilesAreRefused(t *testing.T) {
	whole := t.TempDir()
	c := measurement()
	c.Only = []int{3, 4}
	run(t.Context(), t, c, whole)
	good := read(t, filepath.Join(whole, sweep.JournalFile))
	lines := strings.SplitAfter(good, "\n")
	for text, want := range map[string]string{
		"hello":   "not the file of a sweep",
		"hello\n": "not the file of a sweep",
		"{}\n":    "not the file of a sweep",
		"\n":      "not the file of a sweep",
		strings.Replace(good, `"version":1`, `"version":9`, 1): "version 9; this program reads version 1",
		strings.Replace(good, `"runs"`, `"runes"`, 1):          "line 1: ",
		lines[0] + lines[2]:            "line 2: unit 4, where 3 follows",
		lines[0] + lines[1] + lines[1]: "line 3: unit 3, where 4 follows",
		good + lines[2]:                "line 4: one outcome more than the 2",
		lines[0] + "{\n":               "line 2: ",
		lines[0] + `{"unit":3}` + "\n": "line 2: want a point or a boundary",
		lines[0] + "\n" + lines[1]:     "line 2: ",
		lines[0] + strings.Replace(lines[1], `"violated":`, `"violated":9`, 1): "line 2: 9",
		lines[0] + strings.Replace(lines[1], `"runs":6`, `"runs":60`, 1):       "line 2: 60 runs, where 6 were asked for",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, sweep.JournalFile)
		write(t, path, text)
		j, err := sweep.OpenJournal(dir, head(t, c))
		if err == nil {
			_ = j.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
		}
		if read(t, path) != text {
			t.Errorf("%.60q: it was changed", text)
		}
	}
}

// An error names an unusable directory.
func TestUnusableDirectories(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "text")
	foreign := filepath.Join(dir, "foreign")
	busy := filepath.Join(dir, "busy")
	for _, d := range []string{foreign, filepath.Join(busy, sweep.JournalFile)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(foreign, sweep.PointsFile), "mine")
	drawn := t.TempDir()
	write(t, filepath.Join(drawn, "small-plain.png"), "mine")
	for d, want := range map[string]string{
		file: "not a directory", filepath.Join(file, "below"): "not a directory",
		foreign: "has points.csv and no outcomes.jsonl", drawn: "has small-plain.png and no outcomes.jsonl", busy: "is a directory",
	} {
		if j, err := sweep.OpenJournal(d, sweep.Head{Property: checker.Lease}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", d, j, err, want)
		}
	}
	if got := read(t, filepath.Join(foreign, sweep.PointsFile)); got != "mine" {
		t.Errorf("somebody's file is %q now", got)
	}
}

// Two measurements cannot write to the same directory at once. A closed one unlocks it.
func TestOneAtATime(t *testing.T) {
	dir, h := t.TempDir(), sweep.Head{Format: sweep.Format, Version: sweep.Version, Property: checker.Lease}
	first, err := sweep.OpenJournal(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := sweep.OpenJournal(dir, h); err == nil || !strings.Contains(err.Error(), "another sweep is writing") {
		t.Errorf("%v, %v", j, err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	again, err := sweep.OpenJournal(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// An error names shards that do not belong together.
func TestShardsThatDoNotBelongTogether(t *testing.T) {
	shard := func(i, of int, change func(*sweep.Measurement)) string {
		c, dir := measurement(), t.TempDir()
		c.Only, c.Shard = []int{3, 4}, sweep.Shard{I: i, Of: of}
		if change != nil {
			change(&c)
		}
		run(t.Context(), t, c, dir)
		return dir
	}
	one, two, third := shard(1, 2, nil), shard(2, 2, nil), shard(3, 3, nil)
	other := shard(2, 2, func(c *sweep.Measurement) { c.Runs = 7 })
	whole := shard(1, 1, func(c *sweep.Measurement) { c.Shard = sweep.Shard{} })
	cut := t.TempDir()
	lines := strings.SplitAfter(read(t, filepath.Join(two, sweep.JournalFile)), "\n")
	write(t, filepath.Join(cut, sweep.JournalFile), lines[0]+lines[1][:9])
	for _, c := range []struct {
		dirs []string
		want string
	}{
		{[]string{one}, "shard 2/2: no directory has it"},
		{[]string{third}, "shards 1/3, 2/3: no directory has it"},
		{[]string{one, one}, one + " and " + one + " are both shard 1/2"},
		{[]string{one, two, one}, "are both shard 1/2"},
		{[]string{one, third}, one + " is shard 1/2, and " + third + " is 3/3"},
		{[]string{one, other}, "of different sweeps: runs 6, and not 7"},
		{[]string{one, whole}, whole + " is no shard"},
		{[]string{one, cut}, cut + ", shard 2/2: 0 of 1 point are there"},
		{[]string{one, t.TempDir()}, "is not the directory of a sweep"},
	} {
		if r, err := sweep.Merge(c.dirs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, %v; want %q", c.dirs, r, err, c.want)
		}
	}
	r, err := sweep.Merge([]string{one, two})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Keep(one); err == nil || !strings.Contains(err.Error(), "shard 1/2, and not none") {
		t.Errorf("into a shard: %v", err)
	}
	r.Outcomes[1].Point.Held++
	if err := r.Keep(whole); err == nil || !strings.Contains(err.Error(), "has other outcomes of the same sweep, from point 4 on") {
		t.Errorf("over another whole: %v", err)
	}
}

// Intervals follow from the counts. That of 5 of 10 is Wilson's formula by hand: (0.5 + z²/20
// ± z √(1/40 + z²/400)) / (1 + z²/10).
func TestIntervalsAndWhatIsInside(t *testing.T) {
	point := func(violated, held int, predicted float64) sweep.Measured {
		return sweep.Measured{Violated: violated, Held: held, Undecided: 100, Predicted: &predicted}
	}
	five := point(5, 5, 0.24)
	if lo, hi := five.Interval(); fmt.Sprintf("%.4f %.4f %.4f", lo, hi, five.HalfWidth()) != "0.2366 0.7634 0.2634" {
		t.Errorf("[%v, %v], half %v", lo, hi, five.HalfWidth())
	}
	for _, c := range []struct {
		m             sweep.Measured
		inside, known bool
	}{
		{five, true, true},
		{point(5, 5, 0.23), false, true},
		{point(5, 5, 0.77), false, true},
		{point(0, 10, 0), true, true},
		{point(10, 0, 1), true, true},
		{point(0, 10, 0.5), false, true},
		{point(0, 0, 0.5), false, false},
		{sweep.Measured{Violated: 1, Held: 1}, false, false},
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
		r.Outcomes = append(r.Outcomes, sweep.Outcome{Point: &p})
	}
	if f := r.Fit(); f.Points != 20 || f.Compared != 20 || f.Inside != 17 || f.Between != 20 || f.Hit != 17 || f.Good() {
		t.Errorf("%+v, good %t", f, f.Good())
	}
	sure := point(0, 10, 0)
	for range 80 {
		r.Outcomes = append(r.Outcomes, sweep.Outcome{Point: &sure})
	}
	if f := r.Fit(); f.Compared != 100 || f.Inside != 97 || f.Between != 20 || f.Hit != 17 || f.Good() {
		t.Errorf("what is certain hides what is not: %+v, good %t", f, f.Good())
	}
	for missed, good := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		if f := (sweep.Fit{Compared: 20, Inside: 20 - missed}); f.Good() != good {
			t.Errorf("%d of 20 missed: good %t", missed, f.Good())
		}
	}
}

// The tables are CSV with a row for each unit, all as long as the head.
func TestTablesAreCSV(t *testing.T) {
	dir := t.TempDir()
	r := run(t.Context(), t, measurement(), dir)
	for file, want := range map[string]int{sweep.PointsFile: len(r.Points()), sweep.BoundariesFile: len(r.Boundaries())} {
		text := read(t, filepath.Join(dir, file))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // which wants rows of one length
		if err != nil || len(rows) != 1+want {
			t.Fatalf("%s: %d rows, %v", file, len(rows), err)
		}
		seen := map[string]bool{}
		for _, h := range rows[0] {
			if seen[h] || h == "" {
				t.Errorf("%s: the head %q", file, h)
			}
			seen[h] = true
		}
	}
	rows, _ := csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, sweep.PointsFile)))).ReadAll()
	row := map[string]string{}
	for i, h := range rows[0] {
		row[h] = rows[3][i]
	}
	p := r.Outcomes[2].Point
	for head, want := range map[string]string{
		"unit": "3", "curve": `plain, "no" persistence`, "restart_delay [TTL]": "0.9", "crashes": "1",
		"violated_runs": fmt.Sprint(p.Violated), "predicted": fmt.Sprint(*p.Predicted), "availability": fmt.Sprint(p.Measurements.Availability),
		"longest_outage [ms]": fmt.Sprint(float64(p.Measurements.LongestOutage) / 1e6), "grants": fmt.Sprint(p.Measurements.Grants),
	} {
		if row[head] != want {
			t.Errorf("%s is %q, want %q", head, row[head], want)
		}
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
	err := c.Run(t.Context(), 0, func(o sweep.Outcome) error { done = append(done, o.Unit); return nil })
	if err == nil || !strings.Contains(err.Error(), "boundary 5 (one): at 0.75: lock.ttl") || fmt.Sprint(done) != "[4]" {
		t.Errorf("%v, done %v", err, done)
	}
}
