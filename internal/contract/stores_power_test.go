//go:build linux

package contract

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
	"github.com/lockstorm/lockstorm/internal/servers/stores"
	"github.com/lockstorm/lockstorm/nemesis"
)

// losesPower plays a script in which all members lose power at once, and returns the keys after each
// step.
func (s isolation) losesPower() (keys []string) {
	see := func(when string) { keys = append(keys, when+": "+s.keys()) }
	s.create("k0")
	s.create("k1")
	s.insist(env.StoreRequest{Op: env.StoreDelete, Key: "script/k0"})
	see("before")
	s.reach(1, begins, 0)
	s.reach(1, ends, 0)
	see("when the power is back")
	s.create("k1") // nobody else got it
	s.create("k2")
	see("and after a creation")
	return keys
}

// forgetful are the products that forget what they have acknowledged, as the documentation says.
var forgetful = []string{"nats", "nats-markers"}

// Law: when all members of a store have lost power at once, everything that they have acknowledged is
// there, in the simulated store as in each real one that syncs before it replies. A majority has synced by
// then, for at least one creation.
func TestRealStoresLosePowerAsTheSimulatedOne(t *testing.T) {
	if err := disk.Available(); err != nil {
		t.Skip(err)
	}
	s := storeSetting(3)
	for node := 1; node <= s.Nodes; node++ {
		over := nemesis.When(1, ends, 0)
		s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.PowerLoss{Node: node}, Start: nemesis.When(1, begins, 0), End: &over})
	}
	for _, p := range stores.Products() {
		if !slices.Contains(p.Faults(), (*nemesis.PowerLoss)(nil).Kind()) {
			continue
		}
		t.Run(p.Product, func(t *testing.T) {
			want, got, syncs := besideSimulated(t, p, s, isolation.losesPower)
			switch majority := int64(s.Nodes/2 + 1); {
			case slices.Contains(forgetful, p.Product):
				t.Logf("the real store: %q", got)
			case syncs < majority:
				t.Errorf("%d syncs, though an entry was created", syncs)
			case !slices.Equal(got, want) || len(want) == 0:
				t.Errorf("the simulated store: %q\nthe real one:        %q", want, got)
			}
		})
	}
}
