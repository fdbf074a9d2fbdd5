// Package score holds what a hunt is told by, for machines: the words that the score of
// every command that hunts has in common, and the report of a hunter of mutants.
package fuzz

import "github.com/lockstorm/lockstorm/checker"

// Counts are what the runs of a hunt amount to.
type Counts struct {
	Runs   int `json:"runs"`
	Grants int `json:"grants"`
	Faults int `json:"faults"`

	// Contended counts the runs in which a fault began within a contended hold.
	Contended int `json:"contended"`

	// Tested counts, for each property, the runs that put it to the test: it is
	// promised, could have been seen to break, and nothing was outside what is assumed
	// for it.
	Tested map[checker.Property]int `json:"tested,omitempty"`

	// Violations counts, for each property, the runs that break it. Nil: none does.
	Violations map[checker.Property]int `json:"violations,omitempty"`
}

// Find is the first run of a hunt that breaks a property.
type Find struct {
	Property checker.Property `json:"property"`
	Run      int              `json:"run"`     // its number in the hunt, from 1
	Seconds  float64          `json:"seconds"` // from the begin of the hunt
	Story    string           `json:"story"`
}
