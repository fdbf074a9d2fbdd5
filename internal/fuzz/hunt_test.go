package fuzz_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestFindsCrashRestart(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		var found fuzz.Run
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Space: fuzz.SpaceAround(s), Terms: promises.Unconditional,
			Wanted: []checker.Property{checker.Lease}, MaxFaults: 6, Seed: seed,
			Each: func(s fuzz.Run) bool {
				if len(s.Broken) > 0 {
					found = s
				}
				return len(s.Broken) == 0 && s.Number < 10_000
			},
		}.Run(t.Context())
		if err != nil || len(found.Broken) == 0 {
			t.Fatal("nothing found", err)
		}
		t.Logf("run %d: %v", found.Number, found.Scenario.Plan)
	}
}

// small is a hunt that finds something within a few runs.
func small(t *testing.T, each func(fuzz.Run) bool) fuzz.Hunt {
	t.Helper()
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	return fuzz.Hunt{
		Backend: simulated.Backend(), Space: fuzz.SpaceAround(row), Terms: promises.Unconditional,
		Wanted: []checker.Property{checker.Lease}, MaxFaults: 6, Seed: 1, Each: each,
	}
}

// Law: the seed determines a hunt, on any number of cores.
func TestHuntDoesNotDependOnTheNumberOfCores(t *testing.T) {
	const runs = 200 // of each hunt
	for _, guidance := range fuzz.Guidances {
		var all [2][]string
		for i := range all {
			before := runtime.GOMAXPROCS(1 + 3*i)
			h := small(t, func(s fuzz.Run) bool {
				all[i] = append(all[i], fmt.Sprintf("%d: %d %v %x %v", s.Number, s.Seed, s.Scenario.Plan, s.Result.TraceHash, s.Broken))
				return s.Number < runs
			})
			h.Guidance = guidance
			err := h.Run(t.Context())
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(all[0]) != runs || !slices.Equal(all[0], all[1]) {
			for n := range min(len(all[0]), len(all[1])) {
				if all[0][n] != all[1][n] {
					t.Fatalf("guidance %v, with 1 and with 4 at a time:\n%s\n%s", guidance, all[0][n], all[1][n])
				}
			}
			t.Fatalf("guidance %v: %d and %d runs", guidance, len(all[0]), len(all[1]))
		}
	}
}

// Law: a stopped hunt reports no further runs.
func TestHuntEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	told := 0
	err := small(t, func(s fuzz.Run) bool {
		if told++; told == 3 {
			stop()
		}
		return true
	}).Run(ctx)
	if err != nil || told != 3 {
		t.Errorf("told of %d runs, then: %v", told, err)
	}
	if err := small(t, func(fuzz.Run) bool { t.Error("a run after the end"); return true }).Run(ctx); err != nil {
		t.Error(err)
	}
}

// Law: Each gets the same result as the candidate run by itself.
func TestRunsAreThoseOfTheirCandidates(t *testing.T) {
	err := small(t, func(s fuzz.Run) bool {
		again, err := s.Candidate.Run(t.Context(), simulated.Backend(), nil)
		if err != nil || again.TraceHash != s.Result.TraceHash || s.Scenario.Generate != nil {
			t.Fatalf("run %d: %x, again %x (%v)", s.Number, s.Result.TraceHash, again.TraceHash, err)
		}
		return s.Number < 400
	}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
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
		h := fuzz.Hunt{
			Backend: simulated.Backend(), Space: fuzz.SpaceAround(s), Terms: promises.Unconditional,
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, MaxFaults: 3, Seed: rapid.Uint64Range(1, 100).Draw(t, "seed"),
		}
		h.Each = func(run fuzz.Run) bool {
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

// BenchmarkRuns measures a run of a hunt with everything that belongs to it, on one core.
func BenchmarkRuns(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		b.Fatal(err)
	}
	for _, guidance := range fuzz.Guidances {
		b.Run(string(guidance), func(b *testing.B) {
			err := fuzz.Hunt{
				Backend: simulated.Backend(), Space: fuzz.SpaceAround(row), Terms: promises.Unconditional,
				Wanted: []checker.Property{checker.Lease}, MaxFaults: 6, Seed: 1, Guidance: guidance,
				Each: func(s fuzz.Run) bool { return s.Number < b.N },
			}.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
