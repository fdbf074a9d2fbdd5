package hunt

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/scenarios"
)

// around is the ground about one scenario.
type around struct{ scenario scenarios.Scenario }

// Around returns the ground of one scenario: its lock and its world stay as they are,
// while its clients are drawn anew and its plan is forgotten.
func Around(s scenarios.Scenario) Ground {
	s.Plan, s.Generate, s.Expect = nil, nil, nil
	return around{s}
}

func (a around) Name() string { return a.scenario.Name }

func (a around) Draw(*rand.Rand) scenarios.Scenario { return a.scenario }
