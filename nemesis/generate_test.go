package nemesis

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

func drawSetting(t *rapid.T) Setting {
	return Setting{
		Nodes:       rapid.IntRange(1, 7).Draw(t, "nodes"),
		Clients:     rapid.IntRange(1, 4).Draw(t, "clients"),
		Persistence: rapid.SampledFrom([]Persistence{Nothing, Always}).Draw(t, "persistence"),
		Replication: rapid.SampledFrom([]*Distribution{nil, {}}).Draw(t, "replication"),
		Horizon:     time.Duration(rapid.Int64Range(1, 1e11).Draw(t, "horizon")),
	}
}

func drawGenerator(t *rapid.T) Generator {
	g := Generator{Most: rapid.IntRange(1, 20).Draw(t, "most"), NoSwarm: rapid.Bool().Draw(t, "no swarm")}
	if rapid.Bool().Draw(t, "weighted") {
		g.Faults = drawWeights(t)
	}
	return g
}

func drawWeights(t *rapid.T) Weights {
	names, _ := Kinds()
	keys := rapid.SampledFrom(append(names, AllKinds))
	w := rapid.MapOfN(keys, rapid.IntRange(0, MaxWeight), 0, len(names)).Draw(t, "weights")
	if Weights(w).Validate() != nil {
		return Weights{"crash": 1}
	}
	return w
}

// fixed draws a plan that a scenario could have of itself.
func fixed(t *rapid.T) Plan {
	return rapid.SampledFrom([]Plan{
		nil,
		{{Action: &Crash{Node: 1}, Start: At(0)}},
		{{Action: &Crash{Node: 1}, Start: When(1, env.StepGranted, 0), End: After(ms)}, {Action: &Pause{Client: 1}, Start: At(ms), End: &Trigger{Client: 1, Step: "granted"}}},
	}).Draw(t, "plan")
}

// Law: a generated plan is possible, beside the plan that is there.
func TestGeneratedPlansArePossible(t *testing.T) {
	all, _ := Kinds()
	rapid.Check(t, func(t *rapid.T) {
		s, g := drawSetting(t), drawGenerator(t)
		s.Plan = fixed(t)
		scale := time.Duration(rapid.Int64Range(1e6, 1e11).Draw(t, "scale"))
		g, err := g.Only(s, Ability{Name: "tin", Kinds: all, Features: []Feature{ClientClockFeature, UnplannedFeature}})
		if err != nil {
			t.Skip(err)
		}
		plan := g.Plan(s, scale, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		if len(plan) > g.Most || len(plan) == 0 && s.Plan == nil {
			t.Fatalf("%d faults, want 1 to %d", len(plan), g.Most)
		}
		for _, f := range plan {
			if g.Faults.Of(f.Action.Kind()) == 0 {
				t.Fatalf("%v has weight 0", f.Action)
			}
		}
		s.Plan = slices.Concat(s.Plan, plan)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// sevenKinds are the kinds that the golden plans and the shares are drawn
// from: they stay while more kinds are added.
var sevenKinds = Weights{"crash": 1, "partition": 2, "latency": 1, "pause": 3, "kill": 1, "clock-jump": 1, "clock-rate": 9}

var fiveNodes = Setting{Nodes: 5, Clients: 3, Persistence: Nothing, Horizon: 20 * time.Second}

// Each kind is drawn as often as its weight says, up to chance: five standard
// deviations.
func TestKindsAreDrawnByWeight(t *testing.T) {
	const n = 20_000
	g := Generator{Faults: sevenKinds, Most: 1, NoSwarm: true}
	seen, random := map[Kind]int{}, rand.NewPCG(1, 2)
	for range n {
		for _, f := range g.Plan(fiveNodes, time.Second, random) {
			seen[f.Action.Kind()]++
		}
	}
	total := 0
	for _, w := range sevenKinds {
		total += w
	}
	for k, w := range sevenKinds {
		p := float64(w) / float64(total)
		if off := math.Abs(float64(seen[k]) - n*p); off > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%s: drawn %d times of %d, weight %d of %d", k, seen[k], n, w, total)
		}
	}
}

// A leader that answers nobody and goes on to lead is Redis' own: no store is given one.
func TestStoresDoNotPauseTheirClients(t *testing.T) {
	s, random := fiveNodes, rand.NewPCG(1, 2)
	s.Store = &Store{}
	for range 1000 {
		for _, f := range (Generator{Faults: Weights{"node-pause": 1}, Most: 1}).Plan(s, time.Second, random) {
			if f.Action.(*NodePause).ClientPause {
				t.Fatal(f)
			}
		}
	}
}

// Every kind that the setting has room for comes up, and so does every sort of
// begin and end; a swarm does without some kinds in each plan.
func TestPlansVary(t *testing.T) {
	seen, random := map[string]int{}, rand.NewPCG(1, 2)
	alone := 0
	for range 3_000 {
		kinds := map[Kind]bool{}
		for _, f := range (Generator{Most: 6}).Plan(fiveNodes, time.Second, random) {
			kinds[f.Action.Kind()] = true
			for what, is := range map[string]bool{
				string(f.Action.Kind()):                true,
				"timed":                                f.Start.Timed(),
				"step " + string(f.Start.Step):         f.Start.Client != 0,
				fmt.Sprintf("count %d", f.Start.Count): true,
				fmt.Sprintf("k %d", f.Start.K):         true,
				"plus":                                 f.Start.Plus > 0,
				"no end":                               f.End == nil,
				"restart delay":                        f.Action.ending().automatic != "",
				shape(f.Action):                        true,
				"at once":                              f.End != nil && *f.End.After == 0,
				"a second":                             f.End != nil && *f.End.After > time.Second,
			} {
				if is {
					seen[what]++
				}
			}
		}
		if len(kinds) == 1 {
			alone++
		}
	}
	want := []string{"timed", "count 0", "count 1", "count 2", "count 3", "k 1", "k 5", "plus", "restart delay", "uniform", "log-normal", "pareto", "samples", "rto", "no end", "at once", "a second"}
	for _, k := range Actions() {
		if unmetRequirement(k, fiveNodes) == nil {
			want = append(want, string(k.Kind()))
		}
	}
	for _, s := range env.Steps() {
		want = append(want, "step "+s.String())
	}
	for _, w := range want {
		if seen[w] < 5 {
			t.Errorf("%s: seen %d times", w, seen[w])
		}
	}
	if alone < 100 {
		t.Errorf("only %d plans have one kind", alone)
	}
}

// There is room for a fault before one that holds the same target, and behind
// it; not at the same time, nor where the times are not known beforehand.
func TestRoomInAPlan(t *testing.T) {
	fault := func(start Trigger, end *Trigger) Fault { return Fault{Action: &Crash{Node: 1}, Start: start, End: end} }
	middle := Plan{fault(At(10*ms), After(10*ms))}
	for _, c := range []struct {
		name string
		f    Fault
		room bool
	}{
		{"before", fault(At(0), After(10*ms)), true},
		{"behind", fault(At(20*ms), nil), true},
		{"into its begin", fault(At(0), After(11*ms)), false},
		{"into its end", fault(At(19*ms), nil), false},
		{"at a step", fault(When(1, env.StepGranted, 0), After(0)), false},
	} {
		if got := middle.hasRoom(&c.f, fiveNodes); got != c.room {
			t.Errorf("%s: room %v", c.name, got)
		}
	}
}

// shape names what may be special about the delays that an action makes.
func shape(a Action) string {
	var add Distribution
	switch a := a.(type) {
	case *Latency:
		add = a.Add
	case *GuardLatency:
		add = a.Add
	case *Loss:
		if a.RTO != 0 {
			return "rto"
		}
		return ""
	default:
		return ""
	}
	switch {
	case add.LogNormal != nil:
		return "log-normal"
	case add.Pareto != nil:
		return "pareto"
	case add.Samples != nil:
		return "samples"
	}
	return "uniform"
}

// Law: the plans of a version of the generator stay what they are.
func TestGoldenPlans(t *testing.T) {
	golden := struct {
		Version int
		Plans   []Plan
	}{Version: GeneratorVersion}
	replicated := fiveNodes
	replicated.Replication = &Distribution{}
	for seed := range uint64(5) {
		g := Generator{Faults: sevenKinds, Most: 4, NoSwarm: seed%2 == 0}
		golden.Plans = append(golden.Plans, g.Plan(fiveNodes, time.Second, Stream(seed, PlanStream)))
		servers := Generator{Faults: Weights{"failover": 1, "node-pause": 1, "old-snapshot": 1}, Most: 4, NoSwarm: true}
		golden.Plans = append(golden.Plans, servers.Plan(replicated, time.Second, Stream(seed, PlanStream)))
	}
	text, err := yaml.Marshal(golden)
	if err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, "testdata/plans.yaml", string(text),
		"The same seed now draws another plan: stored replay strings of runs with drawn faults no longer repeat. Count GeneratorVersion up, so that they are refused.")
}

func TestImpossibleGenerators(t *testing.T) {
	cases := map[string]Generator{
		"faults.burn: unknown kind of fault \"burn\"; none of 33 resembles it": {Faults: Weights{"burn": 1, "crash": 1}, Most: 1},
		"faults.crash: weight -1: want 0 to 9":                                 {Faults: Weights{"crash": -1}, Most: 1},
		"faults.crash: weight 10: want 0 to 9":                                 {Faults: Weights{"crash": 10}, Most: 1},
		"faults: every weight is 0: nothing is left to draw":                   {Faults: Weights{"crash": 0, "all": 0}, Most: 1},
		"most: 0: want 1 to 99":                                                {},
		"most: 100: want 1 to 99":                                              {Most: 100},
	}
	for want, g := range cases {
		if err := g.Validate(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// "all" omits kinds that are impossible; a kind that is named is rejected.
func TestOnlyWhatIsPossible(t *testing.T) {
	able := Ability{Name: "tin", Kinds: []Kind{"crash", "pause", "failover"}}
	cases := []struct {
		faults Weights
		want   Weights
		err    string
	}{
		{nil, Weights{"crash": 1, "pause": 1}, ""},
		{Weights{"all": 2, "pause": 0}, Weights{"crash": 2}, ""},
		{Weights{"crash": 3, "kill": 0}, Weights{"crash": 3}, ""},
		{Weights{"crash": 3, "kill": 1}, nil, "faults.kill: the tin backend cannot carry out a kill"},
		{Weights{"failover": 1}, nil, "faults.failover: a failover is impossible here: no node has a replica: the setting has no replication"},
		{Weights{"failover": 0, "crash": 1}, Weights{"crash": 1}, ""},
		{Weights{"all": 1, "crash": 0, "pause": 0}, nil, "faults: nothing is left to draw: the tin backend can carry out none of these kinds of faults in this setting"},
	}
	for _, c := range cases {
		got, err := Generator{Faults: c.faults, Most: 1}.Only(fiveNodes, able)
		if c.err != "" && (err == nil || err.Error() != c.err) || c.err == "" && (err != nil || !maps.Equal(got.Faults, c.want)) {
			t.Errorf("%v: got %v, %v", c.faults, got.Faults, err)
		}
	}
}
