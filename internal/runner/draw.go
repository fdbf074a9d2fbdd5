package runner

import (
	"errors"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// InStorm returns the scenario with further faults that the generator draws.
// What the scenario expects was said of its own plan: now nothing is expected.
func InStorm(s scenarios.Scenario, g nemesis.Generator) scenarios.Scenario {
	s.Generate, s.Expect = &g, nil
	return s
}

// generatorOn returns the scenario's generator, if it has one, without the kinds
// and features of faults that the backend cannot carry out or the setting has
// no room for. It is an error if the generator names one of those kinds.
func generatorOn(b Backend, s scenarios.Scenario) (*nemesis.Generator, error) {
	if s.Generate == nil {
		return nil, nil
	}
	g, err := s.Generate.Only(s.World(), b.Ability)
	var wrong *nemesis.FieldError
	if errors.As(nemesis.InField("generate", err), &wrong) {
		return nil, &UnfitError{wrong.Path, wrong.Err}
	}
	return &g, err
}

// draw draws the faults of a seed that come beside the scenario's plan, if there
// is a generator.
func (e Experiment) draw(seed uint64) nemesis.Plan {
	if e.generator == nil {
		return nil
	}
	return e.generator.Plan(e.world, e.scenario.Lock.TTL, nemesis.Stream(seed, nemesis.PlanStream))
}
