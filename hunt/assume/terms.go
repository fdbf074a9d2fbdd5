package assume

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Terms are the assumptions under which each property is promised. What is not
// named is not promised.
type Terms map[checker.Property]Assumptions

// Breaches returns the properties that a run has violated although they were promised
// under assumptions which the scenario, with the plan that was carried out, is inside
// of. In the order of the properties.
func (t Terms) Breaches(done scenarios.Scenario, r checker.Report) (broken []checker.Property) {
	for _, f := range r.Findings {
		a, promised := t[f.Property]
		if promised && f.Verdict == checker.Violated && a.Outside(done) == nil {
			broken = append(broken, f.Property)
		}
	}
	return broken
}

// Anything promises every property, whatever happens: so what a lock does not
// withstand is found too.
func Anything(scenarios.Scenario) Terms { return Same(Assumptions{})(scenarios.Scenario{}) }

// Same promises every property under the same assumptions.
func Same(a Assumptions) func(scenarios.Scenario) Terms {
	return func(scenarios.Scenario) Terms {
		t := Terms{}
		for _, p := range checker.Properties() {
			t[p] = a
		}
		return t
	}
}
