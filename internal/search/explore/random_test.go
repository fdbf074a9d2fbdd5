package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: all that is random in a world is a choice of an exploration, or a bound that it prints. So a run
// in which no point takes what follows from the seed is the same with any seed, but for its tokens; and
// the worlds here come to a point for each entry of [choice.Random] that has no bound.
func TestRandomnessIsChosenOrABound(t *testing.T) {
	met := map[choice.Purpose]int{}
	for _, s := range seedlessWorlds(t) {
		for _, last := range []bool{false, true} {
			one, other := seedless(t, s, 1, last, met), seedless(t, s, 2, last, met)
			for i := range min(len(one), len(other)) {
				if one[i] != other[i] {
					t.Errorf("%s: event %d follows from the seed:\n%s\n%s", s.Name, i, one[i], other[i])
					break
				}
			}
			if len(one) != len(other) {
				t.Errorf("%s: %d events with seed 1, %d with seed 2", s.Name, len(one), len(other))
			}
		}
	}
	fixed := FixedIn(scenarios.Scenario{})
	for i, r := range choice.Random {
		switch points := met[choice.Purpose(i)]; {
		case r.Fixed != "":
			if points > 0 || r.Chosen != 0 || !slices.Contains(fixed, r.Fixed) {
				t.Errorf("%s: %+v, chosen at %d points; the bounds are %v", r.What, r, points, fixed)
			}
		case r.Chosen == 0 || points == 0:
			t.Errorf("%s: %+v, chosen at %d points", r.What, r, points)
		}
	}
}

// seedlessWorlds are the debate's rows, the compared locks, and worlds with faults of every kind.
func seedlessWorlds(t *testing.T) (all []scenarios.Scenario) {
	t.Helper()
	all = slices.Clone(scenarios.All())
	for _, c := range scenarios.Contenders() {
		for _, trial := range scenarios.Trials()[:2] {
			all = append(all, trial.Enter(c))
		}
	}
	upTo := func(d time.Duration) *nemesis.Distribution {
		return &nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: d}}
	}
	for n := range 60 {
		s, g := scenarios.All()[0], nemesis.Generator{Most: 8, NoSwarm: true}
		switch n % 3 {
		case 0: // what a node keeps
			g.Faults = nemesis.Weights{"power-loss": 2, "failover": 1, "split-brain": 1}
			s.Persistence, s.Replication = nemesis.EverySecond, upTo(500*ms)
		case 1:
			s.Persistence, s.Sync = nemesis.Always, upTo(3*ms)
		case 2:
			s = scenarios.Trials()[0].Enter(scenarios.Contenders()[n%len(scenarios.Contenders())])
		}
		s.Name, s.Expect, s.Limits = fmt.Sprintf("random-faults-%d", n), nil, scenarios.Limits{}
		e, err := runner.Prepare(simulated.Backend(), runner.WithGenerator(s, g))
		if err != nil {
			t.Fatal(err)
		}
		s.Plan = e.Plan(uint64(n))
		all = append(all, s)
	}
	return slices.DeleteFunc(all, func(s scenarios.Scenario) bool { return s.Generate != nil })
}

// seedless returns the events of a run in which no point takes the way that follows from the seed. Tokens
// are numbered in the order in which they occur.
func seedless(t *testing.T, s scenarios.Scenario, seed uint64, last bool, met map[choice.Purpose]int) (events []string) {
	t.Helper()
	s = runner.Alone(s)
	s.MaxEvents = 5_000
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	e = e.WithCourse(runner.Course{Choices: &runner.Choices{Grain: choice.Grain{Latencies: 2, Draws: 2}}}).
		WithDriver(&unseeded{last: last, met: met, random: rand.New(rand.NewPCG(1, 1))})
	tokens := map[string]string{"": ""}
	_, err = e.Run(t.Context(), seed, recorder(func(e *history.Event) {
		if tokens[e.Token] == "" && e.Token != "" {
			tokens[e.Token] = fmt.Sprintf("token %d", len(tokens))
		}
		one := *e
		one.Token = tokens[e.Token]
		events = append(events, fmt.Sprintf("%+v", one))
	}))
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return events
}

type recorder func(*history.Event)

func (r recorder) Record(e *history.Event) { r(e) }

// unseeded is a driver that draws a way other than that of the seed, or takes the last. Where no way
// follows from the seed it draws any, so that clients do not collide for ever.
type unseeded struct {
	last   bool
	met    map[choice.Purpose]int
	random *rand.Rand
}

// Choose implements [choice.Driver].
func (u *unseeded) Choose(_ choice.World, at choice.Point, n uint64) uint64 {
	if at.Kind == choice.Next {
		return 0
	}
	if at.Kind != choice.Order {
		u.met[at.For]++
	}
	switch {
	case at.Kind == choice.Latency || at.Kind == choice.Order:
		return uint64(u.random.IntN(int(n)))
	case u.last:
		return n - 1
	}
	return 1 + uint64(u.random.IntN(int(n-1)))
}
