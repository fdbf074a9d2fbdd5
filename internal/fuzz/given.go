package fuzz

import (
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// MaxGiven is how many candidates of others a hunt can begin with.
const MaxGiven = lookahead

// Validate returns an error for a candidate that no hunt has: one with an invalid scenario, or with a
// generator, since all faults are in its plan.
func (c Candidate) Validate() error {
	if c.Scenario.Generate != nil {
		return errors.New("scenario: it has a generator; all faults of a candidate are in its plan")
	}
	if err := c.Scenario.Validate(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	return nil
}

// admit returns an error if a given candidate is none of this hunt.
func (h Hunt) admit(given []Candidate) error {
	if len(given) > MaxGiven {
		return fmt.Errorf("%d given candidates: want at most %d", len(given), MaxGiven)
	}
	for i, c := range given {
		if err := h.admitOne(c); err != nil {
			return fmt.Errorf("given candidate %d: %w", i+1, err)
		}
	}
	return nil
}

func (h Hunt) admitOne(c Candidate) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if name, own := c.Scenario.Name, h.Space.Name(); name != own {
		return fmt.Errorf("it is of %q, and not of %q", name, own)
	}
	if n := len(c.Scenario.Plan); n > h.MaxFaults {
		return fmt.Errorf("it has %s: want at most %d", textfmt.Count(n, "fault"), h.MaxFaults)
	}
	_, err := runner.Prepare(h.Backend, c.Scenario)
	return err
}
