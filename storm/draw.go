package storm

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Drawn returns the scenario as it is run on a backend with a seed: what its
// generator draws is in its plan, and the generator is gone. A scenario without
// a generator stays as it is. [Prepare] must have accepted it.
func Drawn(b Backend, s scenarios.Scenario, seed uint64) (scenarios.Scenario, error) {
	g, err := generator(b, s)
	if g == nil || err != nil {
		return s, err
	}
	drawn := g.Plan(s.World(), s.Lock.TTL, nemesis.Stream(seed, nemesis.PlanStream))
	s.Plan = slices.Concat(s.Plan, drawn)
	s.Generate = nil
	return s, nil
}

// InStorm returns the scenario with further faults that the generator draws.
// What the scenario expects was said of its own plan: now nothing is expected.
func InStorm(s scenarios.Scenario, g nemesis.Generator) scenarios.Scenario {
	s.Generate, s.Expect = &g, nil
	return s
}

// generator returns the scenario's generator, if it has one, without the kinds
// and features of faults that the backend cannot carry out or the setting has
// no room for. It is an error if the generator names one of those kinds.
func generator(b Backend, s scenarios.Scenario) (*nemesis.Generator, error) {
	if s.Generate == nil {
		return nil, nil
	}
	g, err := s.Generate.Only(s.World(), b.Ability)
	if err != nil {
		return nil, nemesis.InField("generate", err)
	}
	return &g, nil
}
