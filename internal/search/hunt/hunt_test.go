package hunt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// around returns a hunt around a scenario for some properties, without assumptions, for at most so many
// runs. Unless weights are given, all kinds of faults are drawn.
func around(t *testing.T, name string, faults nemesis.Weights, runs int, wanted ...checker.Property) hunt.Hunt {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return hunt.Hunt{
		Backend: simulated.Backend(), Space: hunt.SpaceAround(s), Terms: promises.Unconditional,
		Wanted: wanted, Faults: faults, MaxFaults: 6, Seed: 1, Runs: runs,
	}
}

// results makes the hunt until all wanted properties are violated.
func results(t *testing.T, h hunt.Hunt) (r hunt.Results) {
	t.Helper()
	h.Each = func(run hunt.Run) bool {
		r.Add(run)
		return !r.Has(h.Wanted)
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// Law: violations of the debate's rows are found without their plans, within a number of runs.
func TestFoundWithoutAPlan(t *testing.T) {
	exclusion := []checker.Property{checker.Lease, checker.Section, checker.Effect}
	for name, c := range map[string]struct {
		runs   int
		kinds  []nemesis.Kind // beside those of the network
		wanted []checker.Property
	}{
		"crash-restart":       {2_000, []nemesis.Kind{"crash"}, exclusion},
		"evicted-key":         {5_000, []nemesis.Kind{"evict"}, exclusion},
		"failover":            {1_000, []nemesis.Kind{"failover"}, exclusion},
		"client-suspend":      {1_000, []nemesis.Kind{"suspend"}, []checker.Property{checker.Lease}},
		"pause-then-write":    {2_000, []nemesis.Kind{"pause"}, []checker.Property{checker.Section, checker.Effect}},
		"delayed-write":       {5_000, []nemesis.Kind{"guard-latency"}, []checker.Property{checker.Effect}},
		"fence-one-node-down": {1_000, []nemesis.Kind{"crash"}, []checker.Property{checker.FaultTolerance}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := results(t, around(t, name, networkAnd(c.kinds...), c.runs, c.wanted...)); !r.Has(c.wanted) {
				t.Errorf("of %v only %v is found in %d runs", c.wanted, r.Found(), r.Runs)
			}
		})
	}
}

// networkAnd returns equal weights of the kinds of faults of the network, and of some more.
func networkAnd(kinds ...nemesis.Kind) nemesis.Weights {
	w := nemesis.Weights{"partition": 1, "latency": 1, "loss": 1, "reset": 1, "bandwidth": 1, "split": 1}
	for _, k := range kinds {
		w[k] = 1
	}
	return w
}

// Law: a run depends on the seed and its number alone, on any number of cores and in any part of a hunt.
func TestRunsDependOnTheirNumbers(t *testing.T) {
	const runs = 200
	made := func(before, n, cores int) (all []string) {
		h := around(t, "crash-restart", nil, n, checker.Lease)
		h.Before, h.SideBySide = before, cores
		h.Each = func(s hunt.Run) bool {
			all = append(all, fmt.Sprintf("%d: %d %v %x %v", s.Number, s.Seed, s.Scenario.Plan, s.Result.TraceHash, s.Broken))
			return true
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return all
	}
	whole, end, begin := made(0, runs, 1), made(70, runs-70, 4), made(0, 70, 4)
	if parts := append(begin, end...); len(whole) != runs || !slices.Equal(whole, parts) {
		t.Errorf("%d runs, in parts %d:\n%s\n\n%s", len(whole), len(parts), strings.Join(whole, "\n"), strings.Join(parts, "\n"))
	}
}

// Law: a stopped hunt reports no further runs.
func TestHuntEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	told := 0
	h := around(t, "crash-restart", nil, 0, checker.Lease)
	h.Each = func(hunt.Run) bool {
		if told++; told == 3 {
			stop()
		}
		return true
	}
	for range 2 { // then it has ended before it begins
		if err := h.Run(ctx); err != nil || told != 3 {
			t.Errorf("told of %d runs, then: %v", told, err)
		}
	}
}

// Law: a hunt around any valid scenario ends without an error, and no run has many more events
// than a million. (Where nothing took time it once divided by zero, and where it overestimated
// the attempts it made negative retry delays.)
func TestHuntsAroundHostileScenariosAreBounded(t *testing.T) {
	hunted := 0
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = 2_000
		if _, err := runner.Prepare(simulated.Backend(), s); err != nil {
			return
		}
		h := hunt.Hunt{
			Backend: simulated.Backend(), Space: hunt.SpaceAround(s), Terms: promises.Unconditional,
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, MaxFaults: 3, Seed: rapid.Uint64Range(1, 100).Draw(t, "seed"),
		}
		h.Each = func(run hunt.Run) bool {
			if run.Result.Events > 2*s.MaxEvents {
				t.Fatalf("%d events: %s", run.Result.Events, hostiletest.Describe(s))
			}
			return run.Number < 3
		}
		if err := h.Validate(); err != nil {
			return
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatalf("%v: %s", err, hostiletest.Describe(s))
		}
		hunted++
	})
	if hunted == 0 {
		t.Error("no hunt was made")
	}
}
