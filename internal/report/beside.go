package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Beside compares two sets of results of the compared locks, of different backends, by how
// often each property was violated.
type Beside struct {
	Names [2]string // of the backends
	Pairs []Pair
}

// Pair is a property of a lock in a trial that both sides have judged.
type Pair struct {
	Lock     scenarios.Contender
	Trial    scenarios.Trial
	Property checker.Property
	Rates    [2]runner.Rate // how often it was violated, by side
	Status   RateAgreement
	Reason   string // why the sides differ; "": unknown
}

// Beside compares the results with those of another backend. here and there are the names
// of the two. known has the reasons for differences of the first one.
func (c Comparison) Beside(other Tallies, here, there string, known []scenarios.Difference) Beside {
	b := Beside{Names: [2]string{here, there}}
	for _, l := range c.Locks {
		for _, t := range c.Trials {
			name := scenarios.ComparisonName(t.Name, l.Name)
			ours, ran := c.Found[name]
			theirs, ranThere := other[name]
			if !ran || !ranThere {
				continue
			}
			for _, p := range checker.Properties() {
				pair := Pair{Lock: l, Trial: t, Property: p, Rates: [2]runner.Rate{ours.Rate(p), theirs.Rate(p)}}
				if pair.Rates[0].N == 0 || pair.Rates[1].N == 0 {
					continue
				}
				pair.Status = CompareRates(pair.Rates[0], pair.Rates[1])
				if pair.Status == OnlyHere && pair.byChance() {
					pair.Status = Consistent
				}
				if pair.Status != Consistent {
					pair.Reason = reasonOf(scenarios.Difference{Row: name, Backend: here, Property: p}, known)
				}
				b.Pairs = append(b.Pairs, pair)
			}
		}
	}
	return b
}

// byChance reports whether a violation on one side alone can be chance: the plans of the trial are
// drawn, and the lock is known to violate the property. On real servers the same plan meets the
// clients at other steps.
func (p Pair) byChance() bool {
	drawn := p.Trial.Enter(p.Lock).Generate != nil
	return drawn && p.Lock.Expect[p.Property] == checker.Violated && runner.Fisher(p.Rates[0], p.Rates[1]) >= unlikely
}

// Differences returns the pairs that differ.
func (b Beside) Differences() (list []Pair) {
	for _, p := range b.Pairs {
		if p.Status != Consistent {
			list = append(list, p)
		}
	}
	return list
}

// Conclusion returns [runner.Contradiction] if a difference has no known reason.
func (b Beside) Conclusion() runner.Conclusion {
	for _, p := range b.Differences() {
		if p.Reason == "" {
			return runner.Contradiction
		}
	}
	return runner.AsExpected
}

// String describes the pair, without the reason.
func (p Pair) String() string {
	return fmt.Sprintf("%s, trial %s: %s", p.Lock.Name, p.Trial.Name, p.Property.Code())
}

// Table has a line for each lock and trial, and a column for each property that was judged.
func (b Beside) Table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"trial"}}
	var shown []checker.Property
	for _, p := range checker.Properties() {
		if slices.ContainsFunc(b.Pairs, func(pair Pair) bool { return pair.Property == p }) {
			shown = append(shown, p)
			t.Head = append(t.Head, p.Code()+" "+p.Title())
		}
	}
	for i := 0; i < len(b.Pairs); {
		first := b.Pairs[i]
		if i == 0 || b.Pairs[i-1].Lock.Name != first.Lock.Name {
			t.Section(first.Lock.Name)
		}
		line := make([]string, len(shown))
		for ; i < len(b.Pairs) && b.Pairs[i].Lock.Name == first.Lock.Name && b.Pairs[i].Trial.Name == first.Trial.Name; i++ {
			line[slices.Index(shown, b.Pairs[i].Property)] = b.Pairs[i].cell()
		}
		for j := range line {
			line[j] = cmp.Or(line[j], "·")
		}
		t.Add(append([]string{first.Trial.Name}, line...)...)
	}
	return t
}

// cell is the pair in a table: both rates, unless neither side has a violation.
func (p Pair) cell() string {
	switch {
	case p.Status != Consistent:
		return fmt.Sprintf("≠ %v, %v", p.Rates[0], p.Rates[1])
	case p.Rates[0].K == 0 && p.Rates[1].K == 0:
		return "✓"
	}
	return fmt.Sprintf("✗ %v, %v", p.Rates[0], p.Rates[1])
}

// RateAgreement says whether two rates can be those of one probability.
type RateAgreement uint8

// The results.
const (
	Consistent   RateAgreement = iota + 1
	Inconsistent               // it is unlikely that both rates have the same probability behind them
	OnlyHere                   // only the first side has violations
)

// unlikely is the probability of a difference as large by chance, below which two rates are
// inconsistent.
const unlikely = 0.01

// CompareRates compares the rates of violations of two sides. A violation on the first side
// alone counts, however rare it is: the other side's model does not have it, or not often
// enough to be seen.
func CompareRates(here, there runner.Rate) RateAgreement {
	switch {
	case here.K > 0 && there.K == 0:
		return OnlyHere
	case runner.Fisher(here, there) < unlikely:
		return Inconsistent
	}
	return Consistent
}
