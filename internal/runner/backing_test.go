package runner_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a run whose nodes' keys are recorded as they change violates lease exclusion only if it violates backing, and
// not before: of two quorums that back two holds, one node backs both. What contradicts that is a fault of this bench.
func TestLeaseExclusionFollowsFromBacking(t *testing.T) {
	overlaps := 0
	judge := func(s scenarios.Scenario, seed uint64) {
		r, err := prepared(t, simulator, s).Run(t.Context(), seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		lease, backing := r.Report.Finding(checker.Lease), r.Report.Finding(checker.Backing)
		if lease.Verdict != checker.Violated || backing.Verdict == checker.NotApplicable {
			return
		}
		overlaps++
		if backing.Verdict != checker.Violated || backing.Where.From > lease.First.From {
			t.Errorf("%s, seed %d: %s\nbut backing %v: %s", s.Name, seed, lease.Story(), backing.Verdict, backing.Story())
		}
	}
	for seed := range uint64(1500) {
		judge(varied(seed), seed)
	}
	for _, s := range scenarios.All() {
		for seed := range uint64(5) {
			judge(s, seed)
		}
	}
	if overlaps < 50 {
		t.Errorf("%d runs violate lease exclusion: too few", overlaps)
	}
}
