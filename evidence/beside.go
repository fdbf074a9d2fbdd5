package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// beside compares two sets of results of the compared locks, of different backends, by how
// often each property was violated.
type beside struct {
	Names [2]string // of the backends
	Pairs []pair
}

// pair is a property of a lock in a trial that both sides have judged.
type pair struct {
	Lock     scenarios.Contender
	Trial    scenarios.Trial
	Property checker.Property
	Rates    [2]runner.Rate // how often it was violated, by side
	Status   rateAgreement
	Reason   string // why the sides differ; "": unknown
}

// compareBeside compares the results with those of another backend. here and there are the names
// of the two. known has the reasons for differences of the first one.
func compareBeside(c report.Comparison, other report.Tallies, here, there string, known []scenarios.Difference) beside {
	b := beside{Names: [2]string{here, there}}
	for _, l := range c.Locks {
		for _, t := range c.Trials {
			name := scenarios.ComparisonName(t.Name, l.Name)
			ours, ran := c.Found[name]
			theirs, ranThere := other[name]
			if !ran || !ranThere {
				continue
			}
			for _, p := range checker.Properties() {
				pair := pair{Lock: l, Trial: t, Property: p, Rates: [2]runner.Rate{ours.Rate(p), theirs.Rate(p)}}
				if pair.Rates[0].N == 0 || pair.Rates[1].N == 0 {
					continue
				}
				pair.Status = compareRates(pair.Rates[0], pair.Rates[1])
				if pair.Status == onlyHere && pair.byChance() {
					pair.Status = consistent
				}
				if pair.Status != consistent {
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
func (p pair) byChance() bool {
	drawn := p.Trial.Enter(p.Lock).Generate != nil
	return drawn && p.Lock.Expect[p.Property] == checker.Violated && fisher(p.Rates[0], p.Rates[1]) >= unlikely
}

// Differences returns the pairs that differ.
func (b beside) differences() (list []pair) {
	for _, p := range b.Pairs {
		if p.Status != consistent {
			list = append(list, p)
		}
	}
	return list
}

// Conclusion returns [runner.Contradiction] if a difference has no known reason.
func (b beside) Conclusion() runner.Conclusion {
	for _, p := range b.differences() {
		if p.Reason == "" {
			return runner.Contradiction
		}
	}
	return runner.AsExpected
}

// reasonOf returns the known reason of a difference.
func reasonOf(at scenarios.Difference, known []scenarios.Difference) string {
	for _, d := range known {
		reason := d.Reason
		if d.Reason = ""; d == at {
			return reason
		}
	}
	return ""
}

// String describes the pair, without the reason.
func (p pair) String() string {
	return fmt.Sprintf("%s, trial %s: %s", p.Lock.Name, p.Trial.Name, p.Property.Code())
}

// table has a line for each lock: the properties that are violated in its trials, and those that are
// judged at all.
func (b beside) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"lock", "trials", "violated on both sides", "violated on one side"}}
	for i := 0; i < len(b.Pairs); {
		first, trials := b.Pairs[i], map[string]bool{}
		var both, one []string
		for ; i < len(b.Pairs) && b.Pairs[i].Lock.Name == first.Lock.Name; i++ {
			p := b.Pairs[i]
			trials[p.Trial.Name] = true
			switch {
			case p.Rates[0].K > 0 && p.Rates[1].K > 0:
				both = add(both, p.Trial.Name, p.Property, "")
			case p.Status != consistent:
				one = add(one, "≠ "+p.Trial.Name, p.Property, fmt.Sprintf(" %v, %v", p.Rates[0], p.Rates[1]))
			case p.Rates[0].K+p.Rates[1].K > 0:
				one = add(one, p.Trial.Name, p.Property, fmt.Sprintf(" %v, %v", p.Rates[0], p.Rates[1]))
			}
		}
		t.Add(first.Lock.Name, fmt.Sprint(len(trials)), textfmt.Dash(strings.Join(both, "; ")), textfmt.Dash(strings.Join(one, "; ")))
	}
	return t
}

// add adds a property to a list such as "pause V1 V2 1/1, 0/50". Properties of the same trial and rates
// share an entry.
func add(list []string, trial string, p checker.Property, rates string) []string {
	if last := len(list) - 1; last >= 0 && strings.HasPrefix(list[last], trial+" ") && strings.HasSuffix(list[last], rates) {
		list[last] = strings.TrimSuffix(list[last], rates) + " " + p.Code() + rates
		return list
	}
	return append(list, trial+" "+p.Code()+rates)
}

// storesBeside adds the results of locks in a store on real servers, beside the simulated store.
func (c *checkout) storesBeside(p *text, dir string) (beside, error) {
	var references [2]results.Reference
	var found [2]report.Tallies
	for i, dir := range []string{dir, c.path("results", "reference")} {
		var err error
		if references[i], err = results.LoadReference(dir, results.CompareFile); err != nil {
			return beside{}, err
		}
		if found[i], err = report.TalliesOf(references[i]); err != nil {
			return beside{}, err
		}
	}
	compared := report.Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials(), Found: found[0]}
	b := compareBeside(compared, found[1], references[0].Backend, references[1].Backend, comparisonDifferences)
	p.say("\n## Locks in a store\n\nEach lock goes through the trials of [the comparison](compare.md) on real servers (%s), and in the simulated store. A property that is not named holds on both sides in all trials, or is not judged. Two numbers are the runs that violate it on %s and on %s; they can come from the same probability, except with ≠ (Fisher's exact test, below 1 %%, or only the first has violations, which a trial with drawn plans can show by chance if the lock is known to violate the property).", madeWith(references[0].Versions), b.Names[0], b.Names[1])
	p.table(b.table())
	var order []string
	by := map[string][]string{} // pairs, by the reason of the difference
	for _, d := range b.differences() {
		reason := cmp.Or(d.Reason, "NO REASON IS KNOWN")
		if by[reason] == nil {
			order = append(order, reason)
		}
		by[reason] = append(by[reason], d.String())
	}
	for i, reason := range order {
		if i == 0 {
			p.say("Why they differ (≠):\n")
		}
		p.say("- %s: %s", strings.Join(by[reason], "; "), reason)
	}
	return b, nil
}

// rateAgreement says whether two rates can be those of one probability.
type rateAgreement uint8

// The results.
const (
	consistent   rateAgreement = iota + 1
	inconsistent               // it is unlikely that both rates have the same probability behind them
	onlyHere                   // only the first side has violations
)

// unlikely is the probability of a difference as large by chance, below which two rates are
// inconsistent.
const unlikely = 0.01

// compareRates compares the rates of violations of two sides. A violation on the first side
// alone counts, however rare it is: the other side's model does not have it, or not often
// enough to be seen.
func compareRates(here, there runner.Rate) rateAgreement {
	switch {
	case here.K > 0 && there.K == 0:
		return onlyHere
	case fisher(here, there) < unlikely:
		return inconsistent
	}
	return consistent
}
