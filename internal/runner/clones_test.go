package runner_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what parts contenders who have split the votes is that their retry delays differ.
// Clones draw the same ones: while their messages take the same times, nobody is ever
// granted the lock.
func TestClonesStayInStep(t *testing.T) {
	s, err := scenarios.Find("split-vote-jitter-50ms")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	wantVerdicts(t, storms(t, s, 20), verdicts{checker.DeadlockFreedom: checker.Holds})
	s.Plan = nemesis.Plan{{Action: &nemesis.Clone{}, Start: nemesis.At(0)}}
	tally := storms(t, s, 20)
	if n := tally.Seen[checker.DeadlockFreedom][checker.Violated]; n < tally.Runs {
		t.Fatalf("clones were granted the lock in %d of %d runs", tally.Runs-n, tally.Runs)
	}
	first := tally.First[checker.DeadlockFreedom]
	if story := first.Report.Finding(checker.DeadlockFreedom).Story(); !strings.Contains(story, "Broken assumption: clients that collide wait for different times") {
		t.Errorf("the story does not say why: %s", story)
	}
}
