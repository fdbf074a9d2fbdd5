package fuzz

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// Results is what a hunt has brought in so far.
type Results struct {
	Counts

	// Near is how close the runs came that broke nothing.
	Near Near

	// First is the first run that breaks each property.
	First map[checker.Property]Run
}

// Add puts a run into the bag, and returns the properties that it is the first to break.
func (b *Results) Add(s Run) (first []checker.Property) {
	b.Runs++
	b.Grants += s.Result.Report.Measurements.Grants
	b.Faults += s.Result.Report.Measurements.Faults
	if s.Contended {
		b.Contended++
	}
	if len(s.Broken) == 0 {
		b.Near = b.Near.closer(s.Near)
	}
	if b.Tested == nil {
		b.Tested = map[checker.Property]int{}
	}
	for _, p := range s.Tested {
		b.Tested[p]++
	}
	for _, p := range s.Broken {
		if b.First == nil {
			b.First, b.Violations = map[checker.Property]Run{}, map[checker.Property]int{}
		}
		if b.Violations[p]++; b.Violations[p] == 1 {
			b.First[p] = s
			first = append(first, p)
		}
	}
	return first
}

// Has reports whether all of some properties are broken by a run of the bag.
func (b *Results) Has(all []checker.Property) bool {
	return !slices.ContainsFunc(all, func(p checker.Property) bool { return b.Violations[p] == 0 })
}

// Found lists the properties that are broken by a run of the bag, in their order.
func (b *Results) Found() []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return b.Violations[p] == 0 })
}
