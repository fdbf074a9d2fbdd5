package locktest

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// The flags of the test binary.
var (
	reproDir = flag.String("locktest.witness", "", "run the run that is stored in this `directory` again, and nothing else")
	times    = flag.Int("locktest.reruns", 100, "with -locktest.witness: so `many` times")
)

// repro runs a stored run repro and repro, as the subtest of its storm.
func (tr trial) repro(t *testing.T, dir string) {
	t.Helper()
	if *times < 1 {
		t.Fatalf("-locktest.reruns: %d: want at least 1", *times)
	}
	stored, err := results.Load(dir)
	if err != nil {
		t.Fatalf("-locktest.witness: %v (paths are seen from the directory of the test)", err)
	}
	if stored.Scenario.Lock.Kind != tr.Name {
		t.Skipf("-locktest.witness: %s is of the lock %s, and this one is %s", dir, stored.Scenario.Lock.Kind, tr.Name)
	}
	if stored.Backend != tr.Backend.String() {
		t.Fatalf("-locktest.witness: %s was run on %s, and Config.Backend is %v", dir, stored.Backend, tr.Backend)
	}
	t.Run(stored.Scenario.Name, func(t *testing.T) {
		t.Helper()
		tr.repeat(t, stored)
	})
}

// repeat fails if what was violated is violated again.
func (tr trial) repeat(t *testing.T, stored results.Run) {
	t.Helper()
	tr.TTL = stored.Scenario.Lock.TTL // the plan is made for it
	o := runResult{Result: runner.Result{Scenario: stored.Scenario.Scenario, Plan: stored.Scenario.Plan, Seed: stored.Seed, Report: stored.Report}}
	if !slices.ContainsFunc(o.Report.Findings, func(f checker.Finding) bool { return f.Verdict == checker.Violated }) {
		t.Fatalf("-locktest.witness: %s violates nothing", *reproDir)
	}
	again, err := tr.rerun(t, o, *times, time.Time{})
	o.traits = again.traits // a history does not tell them all
	for _, p := range tr.violated(o) {
		told := fmt.Sprintf("%s was violated, and recurs %s.", named(p), again.of(p))
		if again.Rate(p).K == 0 {
			t.Log(told)
			continue
		}
		t.Errorf("%s\n\n%s", told, textfmt.Sentence(again.First[p].Report.Finding(p).Story()))
	}
	if err != nil {
		t.Fatalf("there was no proper run: %v", err)
	}
}

// violated are the properties that a stored run has violated: those that are promised, if
// any is.
func (tr trial) violated(o runResult) (list []checker.Property) {
	j := o.judge(tr.Config)
	for _, f := range j.broken {
		list = append(list, f.Property)
	}
	if len(list) == 0 {
		for _, l := range j.limits {
			list = append(list, l.Property)
		}
	}
	return list
}

// reruns are what came of a run that was run again and again.
type reruns struct {
	runner.Tally
	traits capabilities // of the lock, in all of them
}

// of says in how many runs a property was violated again, of those in which it was decided.
func (r reruns) of(p checker.Property) string {
	rate := r.Rate(p)
	text := fmt.Sprintf("in %d of %s", rate.K, textfmt.Count(r.Runs, "re-run"))
	if rate.N < r.Runs {
		text += fmt.Sprintf(", of which %d left it open", r.Runs-rate.N)
	}
	if rate.N > 0 {
		text += fmt.Sprintf(" (95 %% interval: %s %%)", rate.Interval())
	}
	return text
}

// rerunTime is how long runs that fail are run again at most, by the real clock.
const rerunTime = 15 * time.Second

// rerun runs again, so often, what was done in a run. It stops at the end of its time, and
// where there is no proper run.
func (tr trial) rerun(t *testing.T, o runResult, times int, end time.Time) (reruns, error) {
	done := o.Done()
	all := reruns{Tally: runner.NewTally(done)}
	for all.Runs < times && t.Context().Err() == nil && (end.IsZero() || time.Now().Before(end)) {
		again, err := tr.run(t, done, o.Seed)
		if err != nil {
			return all, fmt.Errorf("after %s: %w", textfmt.Count(all.Runs, "re-run"), err)
		}
		all.Add(again.Result)
		all.traits.merge(again.traits)
	}
	return all, nil
}
