package fuzz

import (
	"fmt"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// candidate makes the candidate of a number, and what runs it: a change of its parent,
// if it has one and some change is possible, or else one that is drawn anew.
func (h Hunt) candidate(number int, parent *Candidate) (Candidate, runner.Experiment, error) {
	random := rand.New(nemesis.Stream(h.Seed, fmt.Sprintf("hunt %d", number)))
	if parent != nil {
		if c, e, ok := h.change(*parent, random); ok {
			return c, e, nil
		}
	}
	c, err := h.draw(random)
	if err != nil {
		return c, runner.Experiment{}, err
	}
	e, err := runner.Prepare(h.Backend, c.Scenario)
	return c, e, err
}

// draw draws a candidate.
func (h Hunt) draw(random *rand.Rand) (Candidate, error) {
	s, g, err := h.place(random)
	if err != nil {
		return Candidate{}, err
	}
	seed := random.Uint64() >> 32
	a, promised := h.assumed(s, random)
	admits := func(f nemesis.Fault) bool { return !promised || a.Admits(f, s) }
	s.Plan = h.plan(g, s, admits, random)
	if promised {
		s = a.Keep(s) // faults can be outside together
	}
	return Candidate{h.promisedOnly(s), seed}, nil
}

// mostPlaces is how many scenarios are drawn until one has room for some kind of fault.
const mostPlaces = 100

// place draws a scenario in which some of the faults are possible that may be drawn.
func (h Hunt) place(random *rand.Rand) (s scenarios.Scenario, g nemesis.Generator, err error) {
	for range mostPlaces {
		s = h.Ground.Draw(random)
		if g, err = h.generator(s); err == nil {
			return s, g, nil
		}
	}
	return s, g, err
}

// generator returns what draws the faults of a scenario: of the kinds that are asked
// for, those for which there is room in its world. On a ground whose worlds differ it is
// no mistake to name others.
func (h Hunt) generator(s scenarios.Scenario) (nemesis.Generator, error) {
	world, able := s.World(), h.Backend.Ability
	return nemesis.Generator{Faults: h.Faults.Among(world, able), Most: h.Most}.Only(world, able)
}

// Validate returns an error if the hunt finds no room for the faults that it is to draw.
func (h Hunt) Validate() error {
	_, _, err := h.place(rand.New(nemesis.Stream(h.Seed, "place")))
	return err
}

// assumed draws the assumptions that the plan of a scenario keeps to: those of one of
// the properties that are wanted and promised.
func (h Hunt) assumed(s scenarios.Scenario, random *rand.Rand) (Assumptions, bool) {
	terms := h.Terms(s)
	var promised []checker.Property
	for _, p := range checker.Properties() {
		if _, ok := terms[p]; ok && h.wants(p) {
			promised = append(promised, p)
		}
	}
	if len(promised) == 0 {
		return Assumptions{}, false
	}
	return terms[promised[random.IntN(len(promised))]], true
}
