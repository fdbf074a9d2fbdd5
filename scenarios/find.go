package scenarios

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Topic is the rows and series about one subject.
type Topic struct {
	Name   string
	Rows   []File
	Series []Series
}

// Topics returns the debate in its order, with the remedies at its end.
func Topics() []Topic {
	topics := slices.Clone(debated().topics)
	for i := range topics {
		topics[i].Series = seriesOf[topics[i].Name]
	}
	return topics
}

// seriesOf lists the series of the topics.
var seriesOf = map[string][]Series{
	"Restarts":               restartSeries,
	"Clocks":                 {driftSeries, slewSeries},
	"Pauses and late writes": pauseSeries,
	"Contention":             contentionSeries,
}

// All returns the named scenarios, in the order of their topics.
func All() []Scenario {
	var all []Scenario
	for _, t := range Topics() {
		for _, r := range t.Rows {
			all = append(all, r.Scenario)
		}
	}
	return all
}

// AllSeries returns the rows of the debate that are shown at several values.
func AllSeries() []Series {
	var all []Series
	for _, t := range Topics() {
		all = append(all, t.Series...)
	}
	return all
}

// Every returns all rows, and all points of series.
func Every() []Scenario {
	all := All()
	for _, series := range AllSeries() {
		for _, p := range series.Points {
			all = append(all, p.Scenario)
		}
	}
	return all
}

// Find returns the scenario of that name: a row, a point of a series, a published result, or a
// contender in a trial.
func Find(name string) (Scenario, error) {
	for _, s := range Every() {
		if s.Name == name {
			return s, nil
		}
	}
	for _, p := range Published() {
		if p.Name == name {
			return p.Scenario, nil
		}
	}
	for _, s := range AllSeries() {
		if s.Name == name {
			return Scenario{}, fmt.Errorf("%s is a series: its points are %s to %s", name, s.Points[0].Name, s.Points[len(s.Points)-1].Name)
		}
	}
	if s, ok := comparison(name); ok {
		return s, nil
	}
	var known []string
	for _, s := range All() {
		known = append(known, s.Name)
	}
	for _, p := range Published() {
		known = append(known, p.Name)
	}
	return Scenario{}, &textfmt.UnknownError{What: "scenario", Name: name, Known: known}
}

// Remark returns the remark on a row, a series or, by a name of the comparison such as
// compare-redlock, a contender; "" if there is none.
func Remark(name string) string {
	for _, t := range Topics() {
		for _, r := range t.Rows {
			if r.Name == name {
				return r.Remark
			}
		}
	}
	for _, s := range AllSeries() {
		if s.Name == name {
			return s.Remark
		}
	}
	for _, c := range Contenders() {
		if "compare-"+c.Name == name {
			return c.Remark
		}
	}
	return ""
}
