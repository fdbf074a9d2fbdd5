package fuzz

import (
	"errors"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// ErrNotPromised excuses a lock from a property that it promises under no assumptions.
var ErrNotPromised = errors.New("the lock does not promise it")

// Excuse says why a violation of a property in a scenario, with the plan that was
// carried out, is a limit of the lock; nil: nothing excuses it, and it is a defect.
func (t Terms) Excuse(p checker.Property, done scenarios.Scenario) error {
	a, promised := t[p]
	if !promised {
		return ErrNotPromised
	}
	return a.Outside(done)
}
