// Package simulated is the simulator as a backend of package runner: its runs take
// place in virtual time and follow from their seeds.
package simulated

import (
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend returns the simulator, with all that it can do.
func Backend() runner.Backend {
	b := runner.Backend{
		Ability: nemesis.Ability{Name: "sim", Kinds: sim.Faults(), Features: sim.Features()},
		Exact:   true,
		Keys:    true,
		Open:    runner.Opener(sim.Open),

		Drivable: true,
	}
	plain := b
	b.InStore = func(string) (runner.Backend, bool) { return plain, true } // it simulates what they have in common
	return b
}
