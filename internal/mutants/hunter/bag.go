package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/internal/mutants"
)

// bag is what has been found so far.
type bag struct {
	began  time.Time
	named  []checker.Property
	report mutants.Report
	err    error
}

// take looks at one more run.
func (b *bag) take(s hunt.Shot) {
	b.report.Runs = s.Number
	b.report.Grants += s.Result.Report.Measurements.Grants
	for _, p := range s.Broken {
		if b.report.First == nil {
			b.report.First = b.find(s, p)
		}
		if b.report.Named == nil && slices.Contains(b.named, p) {
			b.report.Named = b.find(s, p)
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
