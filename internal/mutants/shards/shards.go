// Package shards stores the reports of hunts that a campaign divides, and joins them. Whoever reads one trusts
// nothing in it.
package shards

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The format of a stored report, and its version.
const (
	reportFormat  = "lockstorm-mutant-shard"
	reportVersion = 1
)

// Seal stores a report without its times, so that equal hunts have equal bytes.
func Seal(r mutants.Report) ([]byte, error) {
	r.Seconds = 0
	finds := make([]mutants.Find, len(r.Finds))
	for i, f := range r.Finds {
		f.Seconds = 0
		finds[i] = f
	}
	r.Finds = finds
	return parts.Seal(reportFormat, reportVersion, r)
}

// Unseal reads what [Seal] has stored of a hunt. It returns an error for a text that is cut off or changed, or
// has what no hunt with this effort can have.
func Unseal(text []byte, e mutants.Effort) (r mutants.Report, err error) {
	if err := parts.Unseal(text, reportFormat, reportVersion, &r); err != nil {
		return r, err
	}
	if r.Seed != e.Seed {
		return r, fmt.Errorf("it is of the seed %d, and not of %d", r.Seed, e.Seed)
	}
	if err := r.Validate(e.Runs); err != nil {
		return r, err
	}
	seen := map[checker.Property]bool{}
	for i, f := range r.Finds {
		if err := validate(f, e); err != nil {
			return r, fmt.Errorf("find %d: %w", i+1, err)
		}
		if seen[f.Property] {
			return r, fmt.Errorf("find %d: %s was found before", i+1, f.Property)
		}
		seen[f.Property] = true
	}
	return r, nil
}

// validate returns an error for a find that a hunt of some runs cannot have.
func validate(f mutants.Find, e mutants.Effort) error {
	if f.Run <= e.Before || f.Run > e.Before+e.Runs {
		return fmt.Errorf("run %d: want %d to %d", f.Run, e.Before+1, e.Before+e.Runs)
	}
	_, err := scenarios.Parse(f.Scenario) // YAML contains JSON
	return err
}

// Join adds the report of later runs of the same hunt.
func Join(r *mutants.Report, o mutants.Report) {
	if r.Space == "" {
		r.Space, r.Seed, r.Finds = o.Space, o.Seed, []mutants.Find{}
	}
	r.Counts.Join(o.Counts)
	for _, f := range o.Finds {
		if !slices.ContainsFunc(r.Finds, func(was mutants.Find) bool { return was.Property == f.Property }) {
			r.Finds = append(r.Finds, f)
		}
	}
}
