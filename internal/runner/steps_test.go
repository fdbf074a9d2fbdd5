package runner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// stepper is a simulated world that reports the steps of client 1. around receives a function that
// continues the step.
type stepper struct {
	runner.World
	around func(step env.Step, on func())
}

func (w stepper) Reach(client int, step env.Step, k int) {
	on := func() { w.World.Reach(client, step, k) }
	if client == 1 {
		w.around(step, on)
	} else {
		on()
	}
}

// stepping runs a scenario in such a world and returns its history.
func stepping(t *testing.T, s scenarios.Scenario, around func(log *history.Log, step env.Step, on func())) *history.Log {
	t.Helper()
	log := new(history.Log)
	backend := simulator
	backend.Open = func(ctx context.Context, setting nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		w, err := simulator.Open(ctx, setting, seed, sink)
		return stepper{w, func(step env.Step, on func()) { around(log, step, on) }}, err
	}
	if _, err := runner.Run(context.Background(), backend, s, 1, log); err != nil {
		t.Fatal(err)
	}
	return log
}

// ways are scenarios that between them lead client 1 through every step.
func ways(t *testing.T) map[string]scenarios.Scenario {
	works := alone(t)
	works.Clients[0].Workload = "section"
	overstays := alone(t)
	overstays.Clients[0].ExtendEvery = 0
	var gone, going nemesis.Plan
	for n := 1; n <= 3; n++ {
		gone = append(gone, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(0), End: nemesis.After(time.Second)})
		going = append(going, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(500 * ms), End: nemesis.After(10 * ms)})
	}
	return map[string]scenarios.Scenario{
		"works": works, "overstays": overstays, "is refused": alone(t, gone...), "loses": alone(t, going...),
	}
}

// reaching returns, for every step, a scenario that leads client 1 to it.
func reaching(t *testing.T) map[env.Step]scenarios.Scenario {
	to := map[env.Step]scenarios.Scenario{}
	for _, s := range ways(t) {
		stepping(t, s, func(_ *history.Log, step env.Step, on func()) {
			to[step] = s
			on()
		})
	}
	return to
}

// A pause can be had at every step: it begins as the client comes there, and
// until its end the client does nothing.
func TestPauseAtEveryStep(t *testing.T) {
	to := reaching(t)
	for _, step := range env.Steps() {
		s, ok := to[step]
		if step == env.StepQueued || step == env.StepWoken {
			continue // steps of locks that wait to be woken
		}
		if !ok {
			t.Errorf("no client of this test reaches the step %s: nothing shows that it can be paused there", step)
			continue
		}
		for _, first := range []nemesis.First{nemesis.RepliesFirst, nemesis.TimersFirst} {
			t.Run(step.String()+", then "+string(first), func(t *testing.T) { pauseAt(t, s, step, first) })
		}
	}
}

func pauseAt(t *testing.T, s scenarios.Scenario, step env.Step, first nemesis.First) {
	const length = 50 * ms
	s.Plan = append(slices.Clone(s.Plan), nemesis.Fault{
		Action: &nemesis.Pause{Client: 1, First: first}, Start: nemesis.When(1, step, 0), End: nemesis.After(length),
	})
	paused := false
	stepping(t, s, func(log *history.Log, at env.Step, on func()) {
		before := len(*log)
		on()
		during := (*log)[before:]
		if at != step || paused {
			return
		}
		paused = true
		resumed := slices.IndexFunc(during, func(e history.Event) bool { return e.Kind == history.Resume })
		if resumed < 0 || during[0].Kind != history.FaultStart || during[1].Kind != history.Pause {
			t.Fatalf("at %s the history tells %+v", step, during)
		}
		if got := during[resumed].Time.Sub(during[1].Time); got != length {
			t.Errorf("the client stood still for %v", got)
		}
		for _, e := range during[:resumed] {
			if e.Client == 1 && told(e.Kind) {
				t.Errorf("the client went on in its pause: %+v", e)
			}
		}
	})
	if !paused {
		t.Error("with the pause in its plan the client does not come there")
	}
}

// told reports whether the client records such an event, and not the world.
func told(k history.Kind) bool {
	return k <= history.WriteDone && k != history.Lapse || k == history.Step
}

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
	testkit.Checks(t, 12) // of each kind
	for _, a := range nemesis.Actions() {
		t.Run(string(a.Kind()), func(t *testing.T) {
			compared := 0
			rapid.Check(t, func(t *rapid.T) {
				plain := furnished(t, all[rapid.IntRange(0, len(all)-1).Draw(t, "scenario")])
				switch a.Kind() { // other kinds need none, or cannot be with one
				case "peer-partition", "lease-revoked", "ttl-restart":
					plain.Store = &nemesis.Store{Commit: *upTo(5 * ms)}
				}
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
			if compared < 6 {
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
