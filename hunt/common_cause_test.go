package hunt

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

// What has a common cause befalls so many nodes, each once, and differs in nothing else.
func TestACommonCauseBefallsNodesAlike(t *testing.T) {
	s := nemesis.Setting{Nodes: 5, Clients: 2, Horizon: 1000 * ms, Persistence: nemesis.Nothing}
	for seed := range uint64(100) {
		f := nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 4}}, Start: nemesis.At(3 * ms), End: nemesis.After(5 * ms)}
		alike := commonCause(dice{rand.New(nemesis.Stream(seed, "test"))}, f, s, 3)
		if len(alike) != 3 || !alike.Disjoint(s) {
			t.Fatalf("%v: want three nodes, each once", alike)
		}
		for _, one := range alike {
			*nodeOf(&one) = 4
			if one.End == nil {
				one.End = f.End // it may last
			}
			if one.String() != f.String() {
				t.Errorf("%v: want it like %v", one, f)
			}
		}
	}
	if nodeOf(&nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Client: 1}}}) != nil {
		t.Error("the clock of a client is that of a node")
	}
}
