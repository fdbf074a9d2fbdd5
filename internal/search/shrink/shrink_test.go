package shrink_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// symptom is a property of the text of a scenario, with what remains if nothing else does.
type symptom struct {
	name  string
	shows func(s scenarios.Scenario, seed uint64) bool
	least shrink.Size // of which the fields from Kinds on are not compared
}

// has reports whether a plan has at least so many faults of a kind.
func has(s scenarios.Scenario, kind nemesis.Kind, least int) bool {
	n := 0
	for _, f := range s.Plan {
		if f.Action.Kind() == kind {
			n++
		}
	}
	return n >= least
}

var symptoms = []symptom{
	{"two clients", func(s scenarios.Scenario, _ uint64) bool { return len(s.Clients) >= 2 }, shrink.Size{Clients: 2, Nodes: 1, Rounds: 2}},
	{"a crash of any node, and two clients", func(s scenarios.Scenario, _ uint64) bool {
		return len(s.Clients) >= 2 && has(s, "crash", 1)
	}, shrink.Size{Clients: 2, Causes: 1, Nodes: 1, Rounds: 2}},
	{"crashes of two nodes", func(s scenarios.Scenario, _ uint64) bool {
		crashed := map[int]bool{}
		for _, f := range s.Plan {
			if c, ok := f.Action.(*nemesis.Crash); ok {
				crashed[c.Node] = true
			}
		}
		return len(crashed) >= 2
	}, shrink.Size{Clients: 1, Causes: 2, Nodes: 2, Rounds: 1}},
	{"a pause of whoever works for long", func(s scenarios.Scenario, _ uint64) bool {
		for _, f := range s.Plan {
			if p, ok := f.Action.(*nemesis.Pause); ok && s.Clients[p.Client-1].Work.Max >= 333*time.Millisecond {
				return true
			}
		}
		return false
	}, shrink.Size{Clients: 1, Causes: 1, Nodes: 1, Rounds: 1}},
	{"three nodes, and an odd seed", func(s scenarios.Scenario, seed uint64) bool { return s.Nodes >= 3 && seed%2 == 1 }, shrink.Size{Clients: 1, Nodes: 3, Rounds: 1}},
}

// showing returns the predicate of a symptom. It fails the test if the scenario cannot be run.
func (y symptom) showing(t *rapid.T) shrink.Shows {
	return func(_ context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		if err := s.Validate(); err != nil {
			t.Fatalf("the shrinker asks of what cannot be: %v", err)
		}
		if !s.Plan.Disjoint(s.World()) {
			t.Fatal("the shrinker asks of a plan that holds a target twice")
		}
		return y.shows(s, seed), nil
	}
}

// drawn draws a scenario with the symptom and its own clients, world and plan.
func (y symptom) drawn(t *rapid.T, name string) (scenarios.Scenario, uint64) {
	type sample struct {
		scenario scenarios.Scenario
		seed     uint64
	}
	d := rapid.Custom(func(t *rapid.T) sample {
		span := func(name string) nemesis.Range {
			lo := rapid.Int64Range(0, int64(time.Second)).Draw(t, name)
			return nemesis.Range{Min: time.Duration(lo), Max: time.Duration(lo + rapid.Int64Range(0, int64(time.Second)).Draw(t, "more "+name))}
		}
		s := rapid.SampledFrom(scenarios.All()).Draw(t, "row")
		s.Clients, s.Plan, s.Links, s.Generate = nil, nil, nil, nil
		for range rapid.IntRange(1, 4).Draw(t, "clients") {
			s.Clients = append(s.Clients, scenarios.Client{
				Workload: rapid.SampledFrom([]string{"hold", "section", "checked", "posted"}).Draw(t, "workload"), Resource: "r",
				Start: span("start"), Work: span("work"), Think: span("think"), Rounds: rapid.IntRange(1, 4).Draw(t, "rounds"),
				ExtendEvery: rapid.SampledFrom([]time.Duration{0, 123 * time.Millisecond}).Draw(t, "extend"),
			})
		}
		s.Nodes = rapid.IntRange(1, 7).Draw(t, "nodes")
		seed := rapid.Uint64().Draw(t, "plan")
		s.Plan = nemesis.Generator{Faults: nemesis.Weights{"all": 1, "crash": 9, "pause": 9}, Most: 8, NoSwarm: true}.Plan(s.World(), s.Lock.TTL, nemesis.Stream(seed, nemesis.PlanStream))
		return sample{s, rapid.Uint64Range(1, 1000).Draw(t, "seed")}
	}).Filter(func(d sample) bool {
		return d.scenario.Validate() == nil && y.shows(d.scenario, d.seed)
	}).Draw(t, name)
	return d.scenario, d.seed
}

// Of a fault on all nodes only those faults remain that are needed; if all are, it stays as it is written.
func TestFaultOnAllNodesIsShrunk(t *testing.T) {
	for needed, want := range map[int]string{1: "node: 1\n", 2: "node: 2\n", 3: "node: all\n"} {
		s, err := scenarios.Find("crash-restart")
		if err != nil {
			t.Fatal(err)
		}
		s.Nodes, s.Plan = 3, nemesis.Plan{{Action: &nemesis.Crash{Node: nemesis.AllNodes}, End: nemesis.After(0)}}
		r, err := shrink.Shrinker{LeastNodes: 3}.Shrink(t.Context(), s, 1, func(_ context.Context, s scenarios.Scenario, _ uint64) (bool, error) {
			s.Plan = s.World().Plan
			return has(s, "crash", needed), nil
		})
		if err != nil || len(r.Scenario.World().Plan) != needed || !strings.Contains(text(t, r.Scenario), want) {
			t.Errorf("%d needed: %v, %v", needed, r.Scenario.Plan, err)
		}
	}
}

// Law: a reduced scenario is no larger and still shows the symptom with every listed seed. Of
// a known symptom only the necessary parts remain. Reducing it again changes nothing.
func TestShrinksToWhatIsNeeded(t *testing.T) {
	testkit.Checks(t, 20)
	for _, y := range symptoms {
		t.Run(y.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, seed := y.drawn(t, "scenario")
				was := text(t, s)
				r, err := shrink.Shrinker{}.Shrink(t.Context(), s, seed, y.showing(t))
				if err != nil {
					t.Fatal(err)
				}
				if text(t, s) != was {
					t.Fatal("the scenario that was given has changed")
				}
				if shrink.SizeOf(s).Less(shrink.SizeOf(r.Scenario)) {
					t.Fatalf("it has become larger:\n%s", text(t, r.Scenario))
				}
				for _, seed := range r.Seeds {
					if !y.shows(r.Scenario, seed) {
						t.Fatalf("it does not show it any more with seed %d:\n%s", seed, text(t, r.Scenario))
					}
				}
				if got := needed(r.Scenario); got != y.least {
					t.Fatalf("%+v remains of %+v, want %+v:\n%s", got, needed(s), y.least, text(t, r.Scenario))
				}
				again, err := shrink.Shrinker{}.Shrink(t.Context(), r.Scenario, r.Seed, y.showing(t))
				if err != nil || text(t, again.Scenario) != text(t, r.Scenario) || again.Seed != r.Seed {
					t.Fatalf("what was shrunk shrinks further, from\n%s\nto\n%s (%v)", text(t, r.Scenario), text(t, again.Scenario), err)
				}
			})
		})
	}
}

// Law: a reduction of the plan alone removes faults until each of those that are left is
// needed, and keeps everything else, the seed included.
func TestPlanOnly(t *testing.T) {
	testkit.Checks(t, 20)
	for _, y := range symptoms {
		t.Run(y.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, seed := y.drawn(t, "scenario")
				shows := y.showing(t)
				r, err := shrink.Shrinker{PlanOnly: true}.Shrink(t.Context(), s, seed, shows)
				if err != nil || !slices.Equal(r.Seeds, []uint64{seed}) || !y.shows(r.Scenario, seed) {
					t.Fatalf("seeds %v of %d: %v", r.Seeds, seed, err)
				}
				for i := range r.Scenario.Plan {
					less := r.Scenario
					if less.Plan = slices.Delete(slices.Clone(less.Plan), i, i+1); y.shows(less, seed) {
						t.Fatalf("fault %d is not needed in\n%s", i, text(t, r.Scenario))
					}
				}
				if r.Scenario.Plan = s.Plan; text(t, r.Scenario) != text(t, s) {
					t.Fatalf("something else has changed:\n%s", text(t, r.Scenario))
				}
			})
		})
	}
}

// needed is the size without what depends on the representation.
func needed(s scenarios.Scenario) shrink.Size {
	z := shrink.SizeOf(s)
	return shrink.Size{Clients: z.Clients, Causes: z.Causes, Cuts: z.Cuts, Nodes: z.Nodes, Rounds: z.Rounds}
}

func text(t interface{ Fatal(...any) }, s scenarios.Scenario) string {
	var b strings.Builder
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shrunk reduces a scenario without limits.
func shrunk(t *testing.T, s scenarios.Scenario, seed uint64, shows shrink.Shows) (scenarios.Scenario, error) {
	r, err := shrink.Shrinker{}.Shrink(t.Context(), s, seed, shows)
	return r.Scenario, err
}

// A violation that only one seed shows depends on chance: with other clients another seed will
// do.
func TestAnotherSeedDoesWhereOneAloneShowsIt(t *testing.T) {
	s := scenarios.All()[0]
	s.Plan = nil
	s.Clients = append(s.Clients, append(s.Clients, s.Clients...)...)[:4]
	r, err := shrink.Shrinker{}.Shrink(t.Context(), s, 4, func(_ context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		return int(seed) == len(s.Clients), nil
	})
	if err != nil || len(r.Scenario.Clients) != 1 || r.Seed != 1 {
		t.Errorf("%d clients with seed %d, and %v: want 1 with seed 1", len(r.Scenario.Clients), r.Seed, err)
	}
}

// A scenario that does not show it is unchanged; an error of a run ends the reduction, unless
// the scenario cannot be run.
func TestEndsOfShrinking(t *testing.T) {
	s := scenarios.All()[0]
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 2}, Start: nemesis.At(0)}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		shows func(run int) (bool, error)
		want  int // runs at least
		err   error
	}{
		"shows nothing": {func(int) (bool, error) { return false, nil }, 1, nil},
		"breaks":        {func(run int) (bool, error) { return run == 1, map[bool]error{true: broken}[run == 3] }, 3, broken},
		"impossible": {func(run int) (bool, error) {
			return run == 1, map[bool]error{true: &nemesis.FieldError{Path: "lock", Err: broken}}[run > 1]
		}, 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			run := 0
			r, err := shrink.Shrinker{}.Shrink(t.Context(), s, 1, func(context.Context, scenarios.Scenario, uint64) (bool, error) {
				run++
				return c.shows(run)
			})
			if !errors.Is(err, c.err) || run < c.want || c.err != nil && run > c.want || r.Runs != run {
				t.Errorf("%v after %d runs, %d of them counted: want %v after %d", err, run, r.Runs, c.err, c.want)
			}
			if !reflect.DeepEqual(r.Scenario, s) {
				t.Error("it has changed")
			}
		})
	}
}

// A fault that names a removed client or node is removed. Others name the remaining ones by
// their new numbers.
func TestRemainingAreRenumbered(t *testing.T) {
	s := scenarios.All()[0]
	s.Clients = append(s.Clients, s.Clients...)[:3]
	s.Plan = nemesis.Plan{
		{Action: &nemesis.Pause{Client: 3}, Start: nemesis.Trigger{Client: 2, Step: "granted"}, End: nemesis.After(time.Second)},
		{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{2, 3}, Nodes: []int{1, 4, 5}}}, Start: nemesis.At(0)},
		{Action: &nemesis.Kill{Client: 1}, Start: nemesis.At(0)},
	}
	// The paused client, a client cut off with it, and node 4.
	shows := func(_ context.Context, s scenarios.Scenario, _ uint64) (bool, error) {
		pauses, cuts := has(s, "pause", 1), has(s, "partition", 1)
		return len(s.Clients) >= 2 && pauses && cuts, nil
	}
	r, err := shrink.Shrinker{LeastNodes: 2}.Shrink(t.Context(), s, 1, shows)
	if err != nil {
		t.Fatal(err)
	}
	if z := shrink.SizeOf(r.Scenario); z.Clients != 2 || z.Nodes != 2 || z.Causes != 1 || z.Cuts != 1 {
		t.Errorf("%+v", z)
	}
	if p, ok := r.Scenario.Plan[0].Action.(*nemesis.Pause); !ok || p.Client != 1 {
		t.Errorf("%v: want a pause of client 1", r.Scenario.Plan[0])
	}
}

// If nodes can be removed when a client starts later, it does. If two faults can be replaced
// by one when two clients are cut off, they are.
func TestShrinksInTwoStepsAtOnce(t *testing.T) {
	s := scenarios.All()[0]
	s.Clients = slices.Clone(s.Clients[:2])
	for i := range s.Clients {
		s.Clients[i].Start = nemesis.Range{}
	}
	s.Plan = nemesis.Plan{
		{Action: &nemesis.Crash{Node: 2}, Start: nemesis.At(0)},
		{Action: &nemesis.Crash{Node: 3}, Start: nemesis.At(0)},
	}
	shows := func(_ context.Context, s scenarios.Scenario, _ uint64) (bool, error) {
		late := slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return c.Start.Max > 0 })
		forgets := has(s, "crash", 2) || has(s, "crash", 1) && has(s, "partition", 2)
		return len(s.Clients) == 2 && (s.Nodes == 5 || late) && forgets, nil
	}
	r, err := shrink.Shrinker{LeastNodes: 3}.Shrink(t.Context(), s, 1, shows)
	if err != nil {
		t.Fatal(err)
	}
	if z := shrink.SizeOf(r.Scenario); z.Nodes != 3 || z.Causes != 1 || z.Cuts != 2 {
		t.Errorf("%+v: want three nodes, one cause and two cuts", z)
	}
}

// Triggers at the steps of a client follow its new number.
func TestStepsGoWithTheirClient(t *testing.T) {
	s := scenarios.All()[0]
	s.Clients = append(slices.Clone(s.Clients), s.Clients...)[:3]
	s.Clients[2].Resource = "mine"
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.Trigger{Client: 3, Step: "granted"}, End: &nemesis.Trigger{Client: 3, Step: "released"}}}
	mine := func(s scenarios.Scenario, m *nemesis.Trigger) bool {
		return m != nil && m.Client > 0 && s.Clients[m.Client-1].Resource == "mine"
	}
	got, err := shrunk(t, s, 1, func(_ context.Context, s scenarios.Scenario, _ uint64) (bool, error) {
		return len(s.Plan) == 1 && mine(s, &s.Plan[0].Start) && mine(s, s.Plan[0].End), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Clients) != 1 || !mine(got, &got.Plan[0].Start) || !mine(got, got.Plan[0].End) {
		t.Errorf("%d clients, and %v: want the one at whose steps it crashes", len(got.Clients), got.Plan)
	}
}

// A jump that is healed loses its end and its healing together if they do not matter. Neither
// can be removed alone.
func TestHealingGoesWithTheEnd(t *testing.T) {
	s := scenarios.All()[0]
	s.Plan = nemesis.Plan{{
		Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 2}, By: time.Second, Healing: nemesis.Healing{Heal: nemesis.HealSlew}},
		Start:  nemesis.At(0), End: nemesis.After(time.Second),
	}}
	got, err := shrunk(t, s, 1, func(_ context.Context, s scenarios.Scenario, _ uint64) (bool, error) {
		return has(s, "clock-jump", 1), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f := got.Plan[0]
	if j, ok := f.Action.(*nemesis.ClockJump); !ok || j.Heal != "" || f.End != nil {
		t.Errorf("%v: want a jump that is not taken back", f)
	}
}
