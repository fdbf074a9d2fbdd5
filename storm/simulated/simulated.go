// Package simulated is the simulator as storm knows it: the backend whose runs take
// place in virtual time and follow from their seeds.
package simulated

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/sim"
	"github.com/lockstorm/lockstorm/storm"
)

// Backend returns the simulator, with all that it can do.
func Backend() storm.Backend {
	return storm.Backend{
		Ability: nemesis.Ability{Name: "sim", Kinds: sim.Faults(), Features: sim.Features()},
		Exact:   true,
		Keys:    true,
		Stores:  true,
		Open:    storm.Opener(sim.Open),
	}
}
