package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/mutants"
)

// bag is what has been found so far.
type bag struct {
	fuzz.Results
	began time.Time
	finds []mutants.Find
}

// take looks at one more run, and reports whether it is the first to break one of some
// properties.
func (b *bag) take(s fuzz.Run, named []checker.Property) (found bool, err error) {
	for _, p := range b.Add(s) {
		done, err := json.Marshal(s.Result.Executed())
		if err != nil {
			return false, err
		}
		b.finds = append(b.finds, mutants.Find{
			Find: fuzz.Find{
				Property: p, Run: s.Number, Seconds: time.Since(b.began).Seconds(),
				Story: s.Result.Report.Finding(p).Story(),
			},
			Seed: s.Seed, Scenario: done,
		})
		found = found || slices.Contains(named, p)
	}
	return found, nil
}
