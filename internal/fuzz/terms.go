package fuzz

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Terms are the assumptions under which each property is promised. What is not
// named is not promised.
type Terms map[checker.Property]Assumptions

// Tests returns the properties that a run has put to the test: what is promised, could be
// seen to hold or not, and for which the scenario, with the plan that was carried out, is
// inside the assumptions. In the order of the properties.
func (t Terms) Tests(done scenarios.Scenario, r checker.Report) (tested []checker.Property) {
	for _, f := range r.Findings {
		a, promised := t[f.Property]
		decided := f.Verdict == checker.Holds || f.Verdict == checker.Violated // where nothing is gone, no fault is tolerated
		if promised && decided && a.Outside(done) == nil {
			tested = append(tested, f.Property)
		}
	}
	return tested
}

// AnyTerms promises every property, whatever happens: so what a lock does not
// withstand is found too.
func AnyTerms(scenarios.Scenario) Terms { return SameTerms(Assumptions{})(scenarios.Scenario{}) }

// SameTerms promises every property under the same assumptions.
func SameTerms(a Assumptions) func(scenarios.Scenario) Terms {
	return func(scenarios.Scenario) Terms {
		t := Terms{}
		for _, p := range checker.Properties() {
			t[p] = a
		}
		return t
	}
}
