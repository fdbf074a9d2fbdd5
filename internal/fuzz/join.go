package fuzz

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Join adds the totals of other runs. Totals can be joined in any order and grouping.
func (c *Counts) Join(o Counts) {
	c.Runs += o.Runs
	c.Grants += o.Grants
	c.Faults += o.Faults
	c.Contended += o.Contended
	c.Prioritized = c.Prioritized.join(o.Prioritized)
	c.Tested = sums(c.Tested, o.Tested)
	c.Violations = sums(c.Violations, o.Violations)
}

// sums adds counts; nil if both are.
func sums(a, b map[checker.Property]int) map[checker.Property]int {
	if a == nil && b == nil {
		return nil
	}
	all := map[checker.Property]int{}
	for _, one := range []map[checker.Property]int{a, b} {
		for p, n := range one {
			all[p] += n
		}
	}
	return all
}

// join returns the description of both.
func (p *Prioritized) join(o *Prioritized) *Prioritized {
	if p == nil || o == nil {
		return cmp.Or(p, o)
	}
	return &Prioritized{
		Runs: p.Runs + o.Runs, Depth: max(p.Depth, o.Depth),
		Directions: max(p.Directions, o.Directions), Messages: max(p.Messages, o.Messages),
		Guarantee: min(p.Guarantee, o.Guarantee),
	}
}

// Validate returns an error for totals that no runs have: at most that many.
func (c Counts) Validate(runs int) error {
	switch {
	case c.Runs < 0 || c.Runs > runs:
		return fmt.Errorf("%d runs: want 0 to %d", c.Runs, runs)
	case c.Grants < 0 || c.Faults < 0 || c.Grants > maxTotal || c.Faults > maxTotal:
		return fmt.Errorf("%d grants and %d faults: want 0 to %d", c.Grants, c.Faults, maxTotal)
	case c.Contended < 0 || c.Contended > c.Runs:
		return fmt.Errorf("a contended hold in %d of %s", c.Contended, textfmt.Count(c.Runs, "run"))
	case c.Violations != nil && len(c.Violations) == 0:
		return errors.New("violations: want none to be left out")
	}
	for p, n := range c.Tested {
		if n < 1 || n > c.Runs {
			return fmt.Errorf("%s tested in %d of %s", p, n, textfmt.Count(c.Runs, "run"))
		}
	}
	for p, n := range c.Violations {
		if n < 1 || n > c.Tested[p] {
			return fmt.Errorf("%s violated in %d of the %s that tested it", p, n, textfmt.Count(c.Tested[p], "run"))
		}
	}
	return c.Prioritized.validate(c.Runs)
}

// maxTotal bounds totals in stored results, so that sums of them do not overflow.
const maxTotal = 1 << 40

func (p *Prioritized) validate(runs int) error {
	switch {
	case p == nil:
		return nil
	case p.Runs < 1 || p.Runs > runs:
		return fmt.Errorf("%d of %s by priorities", p.Runs, textfmt.Count(runs, "run"))
	case p.Depth < 1 || p.Directions < 0 || p.Messages < 0:
		return fmt.Errorf("priorities of depth %d with %d directions and %d messages", p.Depth, p.Directions, p.Messages)
	case !(p.Guarantee > 0 && p.Guarantee <= 1):
		return fmt.Errorf("priorities with a probability of %v", p.Guarantee)
	}
	return nil
}
