package locktest

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// The flags of the test binary.
var (
	reproDir = flag.String("locktest.witness", "", "run only the run stored in this `directory` again")
	times    = flag.Int("locktest.reruns", 100, "with -locktest.witness: the `number` of runs")
)

// repro runs a stored run again, as the subtest of its storm.
func (tr trial) repro(t *testing.T, dir string) {
	t.Helper()
	if *times < 1 {
		t.Fatalf("-locktest.reruns: %d: want at least 1", *times)
	}
	stored, err := results.Load(dir)
	if err != nil {
		t.Fatalf("-locktest.witness: %v (paths are relative to the directory of the test)", err)
	}
	if stored.Scenario.Lock.Kind != tr.Name {
		t.Skipf("-locktest.witness: %s is a run of the lock %s; this lock is %s", dir, stored.Scenario.Lock.Kind, tr.Name)
	}
	if stored.Backend != tr.Backend.String() {
		t.Fatalf("-locktest.witness: %s was run on %s; Config.Backend is %v", dir, stored.Backend, tr.Backend)
	}
	product := ""
	if stored.Scenario.Store != nil {
		product = stored.Scenario.Store.Product
	}
	if product != tr.Store.String() {
		t.Fatalf("-locktest.witness: %s was run on %s; Config.Store is %s", dir, cmp.Or(product, "Redis"), cmp.Or(tr.Store.String(), "not set"))
	}
	storm, selected := stored.Scenario.Name, false
	t.Run(storm, func(t *testing.T) {
		t.Helper()
		selected = true
		tr.repeat(t, stored)
	})
	if !selected {
		t.Fatalf("-locktest.witness: %s is a run of the storm %s, which -run or -skip leaves out: nothing was run", dir, storm)
	}
}

// repeat fails the test if a violated property is violated again.
func (tr trial) repeat(t *testing.T, stored results.Run) {
	t.Helper()
	o := runResult{Result: runner.Result{Scenario: stored.Scenario.Scenario, Plan: stored.Scenario.World().Plan, Seed: stored.Seed, Report: stored.Report}}
	o.header.Keys = tr.world().Keys // the stored report is of what was known
	if !slices.ContainsFunc(o.Report.Findings, func(f checker.Finding) bool { return f.Verdict == checker.Violated }) {
		t.Fatalf("-locktest.witness: %s has no violation", *reproDir)
	}
	t.Logf("running it again, up to %s", textfmt.Count(*times, "time"))
	again, err := tr.rerun(t, o, *times, always)
	o.traits = again.traits // the stored history does not show all of them
	for _, p := range tr.violated(o) {
		text := fmt.Sprintf("%s was violated, and recurs %s.", external.Named(p), again.of(p))
		if again.Rate(p).K == 0 {
			t.Log(text)
			continue
		}
		story := textfmt.Sentence(again.First[p].Report.Finding(p).Story())
		t.Errorf("%s\n\n%s", text, joined(textfmt.Lines(story, external.ScreenWidth)))
	}
	if err != nil {
		t.Fatalf("the run failed: %v", err)
	}
}

// violated returns the promised properties that a stored run violated, or all that it
// violated if none was promised.
func (tr trial) violated(o runResult) (list []checker.Property) {
	j := o.judge(tr.Config)
	for _, f := range j.Broken {
		list = append(list, f.Property)
	}
	if len(list) == 0 {
		for _, l := range j.Limits {
			list = append(list, l.Property)
		}
	}
	return list
}

// reruns are the results of running a run again.
type reruns struct {
	runner.Tally
	traits external.Capabilities // of the lock, over all runs
}

// of says in how many runs a property was violated again.
func (r reruns) of(p checker.Property) string {
	rate := r.Rate(p)
	text := fmt.Sprintf("in %d of %s", rate.K, textfmt.Count(r.Runs, "re-run"))
	if rate.N < r.Runs {
		text += fmt.Sprintf(", undecided in %d", r.Runs-rate.N)
	}
	if rate.N > 0 {
		text += fmt.Sprintf(" (95 %% interval: %s %%)", rate.Interval())
	}
	return text
}

// always allows any number of re-runs.
func always(int) bool { return true }

// rerun runs a run again, up to times times. It stops when more, which is passed the number of
// re-runs so far, returns false, and when a run fails.
func (tr trial) rerun(t *testing.T, o runResult, times int, more func(runs int) bool) (reruns, error) {
	done := o.Executed()
	all := reruns{Tally: runner.NewTally(done)}
	for all.Runs < times && t.Context().Err() == nil && more(all.Runs) {
		again, err := tr.run(t, done, o.Seed)
		if err != nil {
			return all, fmt.Errorf("after %s: %w", textfmt.Count(all.Runs, "re-run"), err)
		}
		all.Add(again.Result)
		all.traits.Merge(again.traits)
	}
	return all, nil
}
