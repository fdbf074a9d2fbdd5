package scenarios_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// How each verdict compares with each expected one, and what runs that agree on it show.
func TestJudge(t *testing.T) {
	const nothing checker.Verdict = 0
	const h, v, u, n = checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable
	const met, against, open, unstated = scenarios.Met, scenarios.Contradicted, scenarios.Open, scenarios.Unstated
	verdicts := []checker.Verdict{h, v, u, n}
	for expected, want := range map[checker.Verdict][]scenarios.Match{
		h:       {met, against, open, against},
		v:       {open, met, open, open},
		u:       {met, met, met, met},
		n:       {against, against, open, met},
		nothing: {unstated, against, unstated, unstated},
	} {
		e := scenarios.Expectations{}
		if expected != nothing {
			e[checker.Lease] = expected
		}
		for i, verdict := range verdicts {
			got := e.Judge(checker.Lease, verdict)
			if got != want[i] {
				t.Errorf("expected %v, %v: got %v, want %v", expected, verdict, got, want[i])
			}
			if got == against {
				continue // which nobody asks of runs that contradict
			}
			shown := got == met || got == unstated && verdict != u
			if all := e.Fulfilled(checker.Lease, map[checker.Verdict]int{verdict: 2}, 2); all != shown {
				t.Errorf("expected %v, all runs %v: fulfilled: %v", expected, verdict, all)
			}
		}
		if _, wanted := e.Want(checker.Lease); wanted != (expected != u && expected != nothing) {
			t.Errorf("expected %v: wanted: %v", expected, wanted)
		}
	}
}
