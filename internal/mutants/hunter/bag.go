package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/internal/mutants"
)

// bag is what has been found so far, and the finds that are reported.
type bag struct {
	hunt.Bag
	began        time.Time
	named        []checker.Property
	first, found *mutants.Find // of all properties, and of those named
	err          error
}

// take looks at one more run.
func (b *bag) take(s hunt.Shot) {
	for _, p := range b.Add(s) {
		if b.first == nil {
			b.first = b.find(s, p)
		}
		if b.found == nil && slices.Contains(b.named, p) {
			b.found = b.find(s, p)
		}
	}
}

func (b *bag) find(s hunt.Shot, p checker.Property) *mutants.Find {
	done, err := json.Marshal(s.Result.Done())
	if err != nil {
		b.err = err
	}
	return &mutants.Find{
		Property: p, Run: s.Number, Seconds: time.Since(b.began).Seconds(), Seed: s.Seed,
		Scenario: done, Story: s.Result.Report.Finding(p).Story,
	}
}

// report is what is told of the hunt when it is over.
func (b *bag) report() mutants.Report {
	return mutants.Report{
		Runs: b.Runs, Grants: b.Grants, Seconds: time.Since(b.began).Seconds(),
		First: b.first, Named: b.found,
	}
}
