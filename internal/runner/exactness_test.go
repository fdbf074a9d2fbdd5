package runner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// cutAt runs a scenario up to an instant, which belongs to it, and returns the
// trace up to there and the time of its end.
func cutAt(s scenarios.Scenario, seed uint64, at time.Duration) (trace uint64, end history.Time, err error) {
	s.Horizon = at
	r, err := runner.Run(context.Background(), simulator, s, seed, sinkOf(func(e *history.Event) { end = e.Time }))
	return r.TraceHash, end, err
}

type sinkOf func(e *history.Event)

func (f sinkOf) Record(e *history.Event) { f(e) }

// with adds a fault of a kind at an instant to a scenario: one that the
// scenario's plan leaves room for, if a generator finds one.
func with(t *rapid.T, s scenarios.Scenario, kind nemesis.Kind, at time.Duration) (scenarios.Scenario, bool) {
	g := nemesis.Generator{Faults: nemesis.Weights{kind: 1}, Most: 1}
	planned := s.Plan
	for range 20 {
		drawn := g.Plan(s.World(), s.Lock.TTL, nemesis.Stream(rapid.Uint64().Draw(t, "plan"), nemesis.PlanStream))
		if len(drawn) == 0 {
			continue
		}
		drawn[0].Start = nemesis.At(at)
		s.Plan = append(slices.Clip(planned), drawn...)
		if s.Validate() == nil {
			return s, true
		}
	}
	return s, false
}

// Law: a fault that is added to a plan changes nothing before it, down to the
// last bit of the trace, whatever its kind. And from its instant on it shows.
func TestLateFaultLeavesThePastAlone(t *testing.T) {
	all := scenarios.All()
	for _, a := range nemesis.Actions() {
		t.Run(string(a.Kind()), func(t *testing.T) {
			compared := 0
			rapid.Check(t, func(t *rapid.T) {
				plain := furnished(t, all[rapid.IntRange(0, len(all)-1).Draw(t, "scenario")])
				seed := rapid.Uint64().Draw(t, "seed")
				late := rapid.SampledFrom([]time.Duration{ms, 3 * ms, 10 * ms, 30 * ms, 100 * ms, 300 * ms, time.Second}).Draw(t, "late")
				late += time.Duration(rapid.IntRange(0, int(ms)).Draw(t, "later"))
				faulty, possible := with(t, plain, a.Kind(), late)
				if !possible {
					return // the scenario has such faults everywhere
				}
				compared++
				compare(t, plain, faulty, seed, late)
			})
			if compared < 50 {
				t.Errorf("only %d runs had such a fault", compared)
			}
		})
	}
}

// furnished is a scenario whose setting has what every kind of fault needs, and
// otherwise one of several sorts.
func furnished(t *rapid.T, s scenarios.Scenario) scenarios.Scenario {
	s.Persistence = rapid.SampledFrom([]nemesis.Persistence{nemesis.EverySecond, nemesis.Always}).Draw(t, "persistence")
	s.Sync = upTo(5 * ms) // which only aof-always waits for
	s.Replication = upTo(10 * ms)
	s.Connections = rapid.SampledFrom(connections).Draw(t, "connections")
	return s
}

func compare(t *rapid.T, plain, faulty scenarios.Scenario, seed uint64, late time.Duration) {
	before, _, err1 := cutAt(plain, seed, late-1)
	after, _, err2 := cutAt(faulty, seed, late-1)
	if before != after || err1 != nil || err2 != nil {
		t.Fatalf("the trace up to %v is %x without the fault (%v) and %x with it (%v)", late-1, before, err1, after, err2)
	}
	before, end, _ := cutAt(plain, seed, late)
	after, _, err := cutAt(faulty, seed, late)
	if err != nil { // what the plan has already done to the target excludes it
		return
	}
	if before == after && end == history.Time(late) {
		t.Fatalf("the trace up to %v is %x with and without the fault", late, before)
	}
}
