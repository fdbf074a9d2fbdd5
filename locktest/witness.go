package locktest

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/storm"
)

// The flags of the test binary.
var (
	witness = flag.String("locktest.witness", "", "run the run that is stored in this `directory` again, and nothing else")
	reruns  = flag.Int("locktest.reruns", 100, "with -locktest.witness: so `many` times")
)

// again runs a stored run again and again, as the subtest of its storm.
func (tr trial) again(t *testing.T, dir string) {
	t.Helper()
	if *reruns < 1 {
		t.Fatalf("-locktest.reruns: %d: want at least 1", *reruns)
	}
	stored, err := results.Load(dir)
	if err != nil {
		t.Fatalf("-locktest.witness: %v (paths are seen from the directory of the test)", err)
	}
	if stored.Scenario.Lock.Kind != tr.Name {
		t.Skipf("-locktest.witness: %s is of the lock %s, and this one is %s", dir, stored.Scenario.Lock.Kind, tr.Name)
	}
	if want := tr.Backend.traits().Name; stored.Backend != want {
		t.Fatalf("-locktest.witness: %s was run on %s, and Config.Backend is %s", dir, stored.Backend, want)
	}
	t.Run(stored.Scenario.Name, func(t *testing.T) {
		t.Helper()
		tr.repeat(t, stored)
	})
}

// repeat fails if what was violated is violated again.
func (tr trial) repeat(t *testing.T, stored results.Run) {
	t.Helper()
	o := outcome{Result: storm.Result{Scenario: stored.Scenario.Scenario, Plan: stored.Scenario.Plan, Seed: stored.Seed, Report: stored.Report}, traits: newTraits()}
	violated := tr.violated(o)
	if len(violated) == 0 {
		t.Fatalf("-locktest.witness: %s violates nothing", *witness)
	}
	tally, err := tr.rerun(t, o, *reruns, time.Time{})
	for _, p := range violated {
		told := fmt.Sprintf("%s was violated, and recurs %s.", named(p), recurs(tally, p))
		if tally.Rate(p).K == 0 {
			t.Log(told)
			continue
		}
		t.Errorf("%s\n\n%s", told, words.Sentence(tally.First[p].Report.Finding(p).Story))
	}
	if err != nil {
		t.Fatalf("there was no proper run: %v", err)
	}
}

// violated are the properties that a stored run has violated: those that are promised, if
// any is.
func (tr trial) violated(o outcome) (list []checker.Property) {
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
