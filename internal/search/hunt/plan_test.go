package hunt

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

// A common cause hits the right number of nodes, each once, and they differ in nothing else.
func TestCommonCauseHitsNodesAlike(t *testing.T) {
	s := nemesis.Setting{Nodes: 5, Clients: 2, Horizon: 1000 * ms, Persistence: nemesis.Nothing}
	for seed := range uint64(100) {
		f := nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 4}}, Start: nemesis.At(3 * ms), End: nemesis.After(5 * ms)}
		alike := commonCause(rng{rand.New(nemesis.Stream(seed, "test"))}, f, s, 3)
		if len(alike) != 3 || !alike.Disjoint(s) {
			t.Fatalf("%v: want three nodes, each once", alike)
		}
		like := alike[0].String()
		for _, one := range alike {
			*nodeOf(&one) = *nodeOf(&alike[0])
			if one.String() != like {
				t.Errorf("%v: want it like %s", one, like)
			}
		}
	}
	if nodeOf(&nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Client: 1}}}) != nil {
		t.Error("the clock of a client is that of a node")
	}
}

// A fault from the start begins before any request, and is still valid.
func TestFromStart(t *testing.T) {
	s := nemesis.Setting{Nodes: 5, Clients: 2, Horizon: 1000 * ms, Persistence: nemesis.Nothing}
	f := nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 4}}, Start: nemesis.At(3 * ms), End: nemesis.After(5 * ms)}
	for seed := range uint64(100) {
		early := fromStart(rng{rand.New(nemesis.Stream(seed, "test"))}, f, s)
		s.Plan = nemesis.Plan{early}
		if err := s.Validate(); err != nil || early.Start != nemesis.At(0) {
			t.Errorf("%v: %v; want it from the start", early, err)
		}
		s.Plan = nil
	}
}
