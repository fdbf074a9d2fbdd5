package fuzz

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/scenarios"
)

// around is the ground about one scenario.
type around struct{ scenario scenarios.Scenario }

// SpaceAround returns the ground of one scenario: its lock and its world stay as they are,
// and its plan is forgotten, with what is said of it. In half of the draws its clients are
// drawn anew, who lock the same and touch it as its own do; bounds are then such that the
// lock can keep them. Where its own clients make a run dear they mostly come late.
func SpaceAround(s scenarios.Scenario) SearchSpace {
	s.Plan, s.Generate, s.Expect = nil, nil, nil
	s.Summary, s.Claims, s.SlipMargin = "", scenarios.Claims{}, 0 // which are about that plan
	return around{s}
}

func (a around) Name() string { return a.scenario.Name }

func (a around) Draw(random *rand.Rand) scenarios.Scenario {
	d, s := dice{random}, a.scenario
	if d.chance(50) {
		if tries(s) > 2*mostTries && d.chance(75) {
			s.Clients = slices.Clone(s.Clients)
			comeLate(&s)
		}
		return s
	}
	first := s.Clients[0]
	s.Clients = drawClients(d, s, len(s.Clients)+one(d, 0, 0, 0, 1), a.workloads(d))
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Resource, c.Resources, c.Fence = first.Resource, first.Resources, first.Fence
	}
	save(&s, oneRound, shortWork, comeLate)
	if q := s.Lock.Quarantine; q > 0 && q < s.LongestTTL() {
		return a.scenario
	}
	s.Bounds = widened(s.Bounds, bounds(s))
	if s.Validate() != nil { // with a TTL of decades what is drawn by it may be too long
		return a.scenario
	}
	return s
}

// workloads are those of the scenario's own clients, or all that touch what they do.
func (a around) workloads(d dice) (own []string) {
	touching := []string{"section", "checked", "posted"}
	touches := false
	for _, c := range a.scenario.Clients {
		own = append(own, c.Workload)
		touches = touches || slices.Contains(touching, c.Workload)
	}
	switch {
	case d.chance(50):
		return own
	case touches:
		return touching
	}
	return []string{"hold", "hold", "misuse"}
}

// widened returns the bounds that a scenario states, as wide as other clients need them.
// For what nothing follows from its settings there is none.
func widened(stated, needed history.Bounds) history.Bounds {
	wide := func(a, b time.Duration) time.Duration {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return history.Bounds{
		Acquire: wide(stated.Acquire, needed.Acquire),
		Extend:  wide(stated.Extend, needed.Extend),
		Release: wide(stated.Release, needed.Release),
		Grant:   wide(stated.Grant, needed.Grant),
		Cleanup: wide(stated.Cleanup, needed.Cleanup),
		Notice:  wide(stated.Notice, needed.Notice),
		Tries:   stated.Tries,
	}
}
