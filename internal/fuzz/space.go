package fuzz

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/scenarios"
)

// SearchSpace is where a hunt takes place: it draws the scenarios.
type SearchSpace interface {
	// Name is what the scenarios are called.
	Name() string
	// Draw draws a scenario that is valid and has no plan, no generator and no
	// expectations.
	Draw(random *rand.Rand) scenarios.Scenario
}
