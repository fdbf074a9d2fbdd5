package fuzz

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// MaxGiven is how many candidates of others a hunt can begin with.
const MaxGiven = lookahead

// MaxCandidate is the largest size of a stored candidate in bytes. Most have some kilobytes; one
// with samples of a distribution has more.
const MaxCandidate = 1 << 20

// Validate returns an error for a candidate that no hunt has: one with an invalid scenario, with a
// generator, since all faults are in its plan, or too large to be stored.
func (c Candidate) Validate() error {
	if c.Scenario.Generate != nil {
		return errors.New("scenario: it has a generator; all faults of a candidate are in its plan")
	}
	if err := c.Scenario.Validate(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	text, err := json.Marshal(c)
	if err == nil && len(text) > MaxCandidate {
		err = fmt.Errorf("%s bytes: want at most %s", textfmt.Grouped(len(text)), textfmt.Grouped(MaxCandidate))
	}
	return err
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
