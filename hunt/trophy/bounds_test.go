package trophy_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/hunt/trophy"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

// Law: what is shrunk is bound by nothing that a correct lock could not keep with the
// settings that remain: with node timeouts below a round trip any lock is late.
func TestShrinkingLeavesBoundsThatCanBeKept(t *testing.T) {
	bound := 0
	for _, lock := range []string{"check-then-set", "setnx-then-expire", "etcd-unchecked"} {
		ground, err := hunt.OfLock(lock)
		if err != nil {
			t.Fatal(err)
		}
		h := hunt.Hunt{
			Backend: simulated.Backend(), Ground: ground, Terms: assume.Anything,
			Wanted: []checker.Property{checker.DeadlockFreedom, checker.FaultTolerance, checker.Cleanup, checker.Contract},
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, Most: 6, Seed: 1,
		}
		var found hunt.Shot
		h.Each = func(s hunt.Shot) bool {
			found = s
			return len(s.Broken) == 0 && s.Number < 1000
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(found.Broken) == 0 {
			continue
		}
		got, err := trophy.Taker{Backend: simulated.Backend(), Terms: assume.Anything, Promised: assume.Promised}.
			Take(t.Context(), found.Broken[0], found)
		if err != nil {
			t.Fatal(err)
		}
		before, after := hunt.BoundsKept(found.Scenario), hunt.BoundsKept(got.Small.Done())
		for _, b := range before {
			bound++
			if !slices.Contains(after, b) {
				t.Errorf("%s, %v: the bound of %s cannot be kept any more:\n%+v", lock, found.Broken, b, got.Small.Done().Lock)
			}
		}
	}
	if bound == 0 {
		t.Error("nothing was found that is bound by anything")
	}
}
