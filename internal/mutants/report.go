package mutants

import (
	"encoding/json"

	"github.com/lockstorm/lockstorm/checker"
)

// Report is what a hunter has found.
type Report struct {
	Runs    int     `json:"runs"`
	Grants  int     `json:"grants"`
	Seconds float64 `json:"seconds"` // of the hunt
	First   *Find   `json:"first,omitempty"`
	// Named is the first that breaks one of the properties that were named.
	Named *Find `json:"named,omitempty"`
}

// Find is a run that broke a promise inside its assumptions.
type Find struct {
	Property checker.Property `json:"property"`
	Run      int              `json:"run"` // its number in the hunt, from 1
	Seconds  float64          `json:"seconds"`
	Seed     uint64           `json:"seed"`
	Scenario json.RawMessage  `json:"scenario"` // with the plan that was carried out
	Story    string           `json:"story"`
}
