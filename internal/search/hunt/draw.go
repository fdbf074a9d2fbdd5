package hunt

import (
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// draw draws a scenario whose plan has all faults, and a seed for its run.
func (h Hunt) draw(random *rand.Rand) (scenarios.Scenario, uint64, error) {
	s, g, err := h.drawScenario(random)
	if err != nil {
		return s, 0, err
	}
	seed := random.Uint64() >> 32
	a, promised := h.assumed(s, random)
	admits := func(f nemesis.Fault) bool { return !promised || a.Admits(f, s) }
	s.Plan = h.plan(g, s, admits, random)
	if promised {
		s = a.Keep(s) // faults can be excluded together
	}
	return h.withPromisedBounds(s), seed, nil
}

// maxScenarios is how many scenarios are drawn until one admits some kind of fault.
const maxScenarios = 100

// drawScenario draws a scenario in which some of the wanted faults are possible.
func (h Hunt) drawScenario(random *rand.Rand) (s scenarios.Scenario, g nemesis.Generator, err error) {
	for range maxScenarios {
		s = h.Space.Draw(random)
		if g, err = h.generator(s); err == nil {
			return s, g, nil
		}
	}
	return s, g, err
}

// generator returns a generator of the wanted kinds of faults that the scenario's world
// admits. Worlds differ, so kinds that one does not admit are no error.
func (h Hunt) generator(s scenarios.Scenario) (nemesis.Generator, error) {
	world, able := s.World(), h.Backend.Ability
	return nemesis.Generator{Faults: h.Faults.Among(world, able), Most: h.MaxFaults}.Only(world, able)
}

// Validate returns an error if no scenario admits the wanted faults.
func (h Hunt) Validate() error {
	_, _, err := h.drawScenario(rand.New(nemesis.Stream(h.Seed, "place")))
	return err
}

// assumed draws the assumptions that a plan keeps: those of one of the wanted and promised
// properties.
func (h Hunt) assumed(s scenarios.Scenario, random *rand.Rand) (promises.Assumptions, bool) {
	terms := h.Terms(s)
	var promised []checker.Property
	for _, p := range checker.Properties() {
		if _, ok := terms[p]; ok && h.wants(p) {
			promised = append(promised, p)
		}
	}
	if len(promised) == 0 {
		return promises.Assumptions{}, false
	}
	return terms[promised[random.IntN(len(promised))]], true
}

// rng draws random values. It uses integers only, so that a hunt is the same on every machine.
type rng struct{ *rand.Rand }

// chance returns true with a probability in percent.
func (d rng) chance(percent int) bool { return d.IntN(100) < percent }

// pick returns one of a list. Repeat a value to pick it more often.
func pick[T any](d rng, of ...T) T { return of[d.IntN(len(of))] }

// between draws a duration in whole microseconds, which are easier to read.
func (d rng) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return (lo + time.Duration(d.Int64N(int64(hi-lo)+1))).Truncate(time.Microsecond)
}

// upTo returns a range from 0.
func upTo(d time.Duration) nemesis.Range { return nemesis.Range{Max: d} }

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// within draws a range between two ends, sometimes a single value.
func (d rng) within(lo, hi time.Duration) nemesis.Range {
	a, b := d.between(lo, hi), d.between(lo, hi)
	if d.chance(25) {
		b = a
	}
	return nemesis.Range{Min: min(a, b), Max: max(a, b)}
}

// withPromisedBounds returns the scenario without the bounds that its lock does not promise
// under the plan. The other bounds still apply.
func (h Hunt) withPromisedBounds(s scenarios.Scenario) scenarios.Scenario {
	without := s
	without.Bounds.Notice, without.Bounds.Renew = 0, 0
	kept := func(s scenarios.Scenario) bool { return h.Terms(s).Excuse(checker.Contract, s) == nil }
	if s.Bounds != without.Bounds && !kept(s) && kept(without) {
		return without
	}
	return s
}
