package results

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Validate returns an error for a row that no runs have: one whose counts do not add up, or with
// a seed that is not one of its runs.
func (r Row) Validate() error {
	if r.Scenario == "" || r.Runs < 1 {
		return errors.New("a row needs a scenario and at least one run")
	}
	if r.First > math.MaxUint64-uint64(r.Runs-1) {
		return fmt.Errorf("%s: %d runs from seed %d on: there are not so many seeds", r.Scenario, r.Runs, r.First)
	}
	for _, check := range []func() error{r.validateSeen, r.validateWitness, r.validateViolations} {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", r.Scenario, err)
		}
	}
	return nil
}

// validateSeen checks the numbers of verdicts.
func (r Row) validateSeen() error {
	for _, p := range checker.Properties() {
		counts, judged := r.Seen[p]
		left := r.Runs
		for v, n := range counts {
			if n < 0 || n > left {
				return fmt.Errorf("%s is %v in %d runs of %d", p, v, n, r.Runs)
			}
			left -= n
		}
		if judged && left != 0 {
			return fmt.Errorf("%d verdicts on %s in %d runs", r.Runs-left, p, r.Runs)
		}
	}
	return nil
}

// validateWitness checks what is said of single runs, except the violations.
func (r Row) validateWitness() error {
	if s := r.Slipped; s != nil {
		switch {
		case s.Runs < 1 || s.Runs > r.Runs:
			return fmt.Errorf("%d of %d runs slipped", s.Runs, r.Runs)
		case !r.has(s.Seed):
			return fmt.Errorf("seed %d, which slipped, is none of its runs", s.Seed)
		}
	}
	switch {
	case r.Shown < 0 || r.Against < 0 || r.Shown > r.Runs || r.Against > r.Runs-r.Shown:
		return fmt.Errorf("%d runs showed what was expected and %d contradicted it, of %d", r.Shown, r.Against, r.Runs)
	case r.Shown+r.Against > 0 && !r.has(r.Witness):
		return fmt.Errorf("seed %d, the witness, is none of its runs", r.Witness)
	}
	return validateTrace(r.Trace)
}

// validateViolations checks the violations.
func (r Row) validateViolations() error {
	for i, v := range r.Violations {
		p := v.Finding.Property
		switch runs := r.Seen[p][checker.Violated]; {
		case slices.ContainsFunc(r.Violations[:i], func(other Violation) bool { return other.Finding.Property == p }):
			return fmt.Errorf("violations of %s are there twice", p)
		case runs == 0 || v.Count < runs:
			return fmt.Errorf("%d violations of %s in %d runs with one", v.Count, p, runs)
		case !r.has(v.Seed):
			return fmt.Errorf("seed %d, which violates %s, is none of its runs", v.Seed, p)
		}
		if err := validateTrace(v.Trace); err != nil {
			return err
		}
	}
	for p, counts := range r.Seen {
		if counts[checker.Violated] > 0 && !slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Finding.Property == p }) {
			return fmt.Errorf("no violation of %s is described", p)
		}
	}
	return nil
}

// has reports whether a seed is that of one of the runs.
func (r Row) has(seed uint64) bool { return seed >= r.First && seed-r.First < uint64(r.Runs) }

// validateTrace checks the hash of a trace, which may be missing.
func validateTrace(text string) error {
	if hash := hashed(text); text != traced(hash) {
		return fmt.Errorf("the trace %q: want 16 hexadecimal digits", text)
	}
	return nil
}
