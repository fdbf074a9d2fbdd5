package shrink_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shrink"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: what is shrunk is bound by nothing that a correct lock could not keep with the
// settings that remain: with node timeouts below a round trip any lock is late.
func TestShrinkingLeavesBoundsThatCanBeKept(t *testing.T) {
	bound := 0
	for _, lock := range []string{"check-then-set", "setnx-then-expire", "etcd-unchecked"} {
		ground, err := fuzz.SpaceOfLock(lock)
		if err != nil {
			t.Fatal(err)
		}
		h := fuzz.Hunt{
			Backend: simulated.Backend(), Ground: ground, Terms: fuzz.AnyTerms,
			Wanted: []checker.Property{checker.DeadlockFreedom, checker.FaultTolerance, checker.Cleanup, checker.Contract},
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, Most: 6, Seed: 1,
		}
		var found fuzz.Run
		h.Each = func(s fuzz.Run) bool {
			found = s
			return len(s.Broken) == 0 && s.Number < 1000
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(found.Broken) == 0 {
			continue
		}
		got, err := shrink.Minimizer{Backend: simulated.Backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms}.
			Take(t.Context(), found.Broken[0], found)
		if err != nil {
			t.Fatal(err)
		}
		before, after := fuzz.BoundsKept(found.Scenario), fuzz.BoundsKept(got.Small.Executed())
		for _, b := range before {
			bound++
			if !slices.Contains(after, b) {
				t.Errorf("%s, %v: the bound of %s cannot be kept any more:\n%+v", lock, found.Broken, b, got.Small.Executed().Lock)
			}
		}
	}
	if bound == 0 {
		t.Error("nothing was found that is bound by anything")
	}
}
