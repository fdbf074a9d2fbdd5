package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// debate is what the two sides of 2016 spoke of, by topic.
func debate() []Scenario {
	return slices.Concat(network, restarts, clocks, pauses, fences, contention)
}

// AllSeries returns the rows of the debate that are shown at several values.
func AllSeries() []Series {
	all := slices.Concat(restartSeries, clockSeries, pauseSeries, contentionSeries)
	for _, s := range all {
		for i := range s.Points {
			s.Points[i].Setting.Clients = len(s.Points[i].Clients)
		}
	}
	return all
}

// All returns the named scenarios: the debate in its order, then the remedies.
func All() []Scenario {
	all := slices.Concat(debate(), remedies)
	for i := range all {
		all[i].Setting.Clients = len(all[i].Clients)
	}
	return all
}

// Find returns the scenario of that name: a row, a point of a series, or a
// contender in a trial.
func Find(name string) (Scenario, error) {
	all := All()
	known := make([]string, len(all))
	for i, s := range all {
		if s.Name == name {
			return s, nil
		}
		known[i] = s.Name
	}
	for _, series := range AllSeries() {
		for _, p := range series.Points {
			if p.Name == name {
				return p.Scenario, nil
			}
		}
	}
	if s, ok := comparison(name); ok {
		return s, nil
	}
	return Scenario{}, fmt.Errorf("unknown scenario %q: there is %s", name, strings.Join(known, ", "))
}
