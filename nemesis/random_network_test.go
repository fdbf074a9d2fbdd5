package nemesis

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Law: a fault of the network whose fields are drawn fits its setting.
func TestRandomNetworkFaultsArePossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Setting{
			Nodes: rapid.IntRange(1, 7).Draw(t, "nodes"), Clients: rapid.IntRange(1, 4).Draw(t, "clients"),
			Persistence: Nothing, Horizon: time.Second,
		}
		d := &paramGenerator{setting: s, scale: time.Second, random: rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)}
		for _, zero := range []Action{&Loss{}, &Reset{}, &Bandwidth{}, &Split{}, &GuardLatency{}} {
			s.Plan = Plan{{Action: zero.random(d)}}
			if err := s.Validate(); err != nil {
				t.Fatalf("%v: %v", s.Plan[0].Action, err)
			}
		}
	})
}
