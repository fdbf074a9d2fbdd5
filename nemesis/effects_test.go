package nemesis

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Law: the effects of a fault include those of its kind, and its values belong to its effects.
func TestEffectsOfFaultsAreThoseOfTheirKinds(t *testing.T) {
	s := Setting{Nodes: 5, Clients: 3, Persistence: EverySecond, Replication: &Distribution{}, Store: &Store{}, Horizon: 10 * time.Second}
	for _, kind := range Actions() {
		for seed := range uint64(100) {
			g := newParamGenerator(s, time.Second, rand.NewPCG(seed, 0))
			a := kind.random(g)
			e := a.Effects(s)
			if missing := kindEffects[kind.Kind()] &^ e.Does; missing != 0 {
				t.Fatalf("%v lacks the effects %b of its kind", a, missing)
			}
			for what, is := range map[string][2]bool{
				"client":  {e.Client != 0, e.Does.Any(StopsClient | EndsClient | CancelsCall)},
				"outage":  {e.Outage.Node != 0, e.Does.Any(TakesDown)},
				"clock":   {e.Clock.Machine != Machine{}, e.Does.Any(StepsClock|WandersClock|StopsMachine) || e.Clock.Misses},
				"traffic": {isTraffic(a) && e.Away == 0, false},
			} {
				if is[0] != is[1] {
					t.Fatalf("%v: its %s does not fit its effects", a, what)
				}
			}
			for steps := 0; a != nil; a = Simpler(a, s) {
				if steps++; steps > len(kinds) {
					t.Fatalf("%v has no end of simpler kinds", a)
				}
			}
		}
	}
}

func isTraffic(a Action) bool { _, is := a.(Traffic); return is }
