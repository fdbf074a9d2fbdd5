package mutants

import (
	"encoding/json"

	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// Report is what a hunter has found.
type Report struct {
	Ground string `json:"ground"`
	Seed   uint64 `json:"seed"`
	fuzz.Counts
	Seconds float64 `json:"seconds"` // of the hunt
	Finds   []Find  `json:"finds"`   // the first of each property, in the order of their runs
}

// Find is a run that broke a promise inside its assumptions, and what repeats it in a
// program with the same defect.
type Find struct {
	fuzz.Find
	Seed     uint64          `json:"seed"`
	Scenario json.RawMessage `json:"scenario"` // with the plan that was carried out
}
