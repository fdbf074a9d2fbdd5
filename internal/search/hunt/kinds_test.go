package hunt_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: whatever a kind of fault does to nodes and clients in a run, the assumptions that exclude it exclude
// the plan. A lock would otherwise be blamed for a new kind that the assumptions do not know.
func TestAssumptionsKnowEachKindOfFault(t *testing.T) {
	const plans = 10 // of each kind
	zero, effective := 0, 0
	for _, action := range nemesis.Actions() {
		t.Run(string(action.Kind()), func(t *testing.T) {
			did := map[string]int{}
			for seed := range uint64(plans) {
				s := roomy(t, action.Kind(), seed)
				e, err := runner.Prepare(simulated.Backend(), s)
				if err != nil {
					t.Fatal(err)
				}
				var log history.Log
				if _, err := e.Run(t.Context(), seed, &log); err != nil {
					t.Fatal(err)
				}
				for effect, excluding := range map[string]struct {
					seen func(history.Event) bool
					promises.Assumptions
				}{
					"takes a node or a link away": {isAway, promises.Assumptions{Away: &zero}},
					"makes a node forget":         {forgets, promises.Assumptions{NothingForgotten: true}},
					"stops a client":              {func(e history.Event) bool { return e.Kind == history.Pause }, promises.Assumptions{NoPauses: true}},
				} {
					if !slices.ContainsFunc(log, excluding.seen) {
						continue
					}
					did[effect]++
					if excluding.Outside(s) == nil {
						t.Fatalf("it %s, and the assumptions that exclude this admit it (seed %d):\n%v", effect, seed, s.Plan)
					}
				}
			}
			if t.Logf("in %d runs: %v", plans, did); len(did) > 0 {
				effective++
			}
		})
	}
	if effective < 15 {
		t.Errorf("only %d kinds did anything in their runs", effective)
	}
}

func isAway(e history.Event) bool { return e.Kind == history.NodeDown || e.Kind == history.LinkDown }

func forgets(e history.Event) bool {
	return e.Kind == history.NodeUp && e.Detail != history.WithItsKeys && e.Detail != history.WithAllItsKeys
}

// roomy returns a scenario in which a kind of fault is possible, with one fault of the kind. What a kind
// requires, besides persistence and replicas, is added here.
func roomy(t *testing.T, kind nemesis.Kind, seed uint64) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Persistence = nemesis.Persistences[seed%uint64(len(nemesis.Persistences))]
	s.Replication = &nemesis.Distribution{Range: nemesis.Range{Max: 10 * time.Millisecond}}
	switch kind {
	case "peer-partition", "lease-revoked", "ttl-restart":
		c := scenarios.Contenders()[0]
		for _, other := range scenarios.Contenders() {
			if other.Name == "etcd" {
				c = other
			}
		}
		s = scenarios.Trials()[0].Enter(c)
	}
	g, err := nemesis.Generator{Faults: nemesis.Weights{kind: 1}, Most: 1}.Only(s.World(), simulated.Backend().Ability)
	if err != nil {
		t.Fatalf("%v. Add to the scenario of roomy, in this file, what the kind requires", err)
	}
	s.Plan = g.Plan(s.World(), s.Lock.TTL, nemesis.Stream(seed, nemesis.PlanStream))
	return s
}
