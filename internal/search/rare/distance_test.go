package rare

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/scenarios"
)

// emptyWindows names the rows whose violation is of a window that ended before it began. It has no
// distance, and a sampler takes the checker's word.
var emptyWindows = map[string]bool{"pause-after-step-3": true}

// Law: the distance is 0 if and only if the checker says that the property is violated, in every row
// of the debate.
func TestDistanceIsZeroIfViolated(t *testing.T) {
	violated, near := 0, 0
	for _, s := range scenarios.All() {
		e := prepared(t, s)
		for _, p := range []checker.Property{checker.Backing, checker.Lease, checker.Section} {
			if err := checkDistance(e.Header(1), p); err != nil {
				if s.Store == nil {
					t.Errorf("%s: %v", s.Name, err)
				}
				continue
			}
			for seed := range uint64(3) {
				var c *margins
				read := e.WithReader(func(t *timeline.Timeline) { c = marginsFor(p, t) }, p)
				r, err := read.WithDriver(&move{seed: seed, to: tape{}}).RunWhole(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				d, verdict := c.distance(), r.Report.Verdicts()[p]
				if emptyWindows[s.Name] && d > 0 {
					continue
				}
				if (d == 0) != (verdict == checker.Violated) || d < 0 || d > far {
					t.Errorf("%s: %s: %v at a distance of %v", s.Name, p, verdict, d)
				}
				if d == 0 {
					violated++
				} else if d < far/2 {
					near++
				}
			}
		}
	}
	if violated < 50 || near == 0 {
		t.Errorf("%d violated, %d near: too few to tell anything", violated, near)
	}
}

// There is a distance only for locks on nodes, and for exclusion.
func TestNoDistance(t *testing.T) {
	h := prepared(t, truths[0].world(0.1)).Header(1)
	if err := checkDistance(h, checker.Cleanup); err == nil {
		t.Error("clean-up has a distance")
	}
	h.Keys = false
	if err := checkDistance(h, checker.Lease); err == nil {
		t.Error("a history without keys has a distance")
	}
}
