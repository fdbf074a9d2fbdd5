package scenarios

import (
	"maps"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
)

// Expectations are the verdicts that properties should get. A property without one must not be
// violated. If unknown is expected, any verdict is as expected.
type Expectations map[checker.Property]checker.Verdict

// complete returns the expectations with not applicable for each property without one: rows of
// the debate state only verdicts that there are.
func (e Expectations) complete() Expectations {
	all := Expectations{}
	for _, p := range checker.Properties() {
		all[p] = checker.NotApplicable
	}
	maps.Copy(all, e)
	return all
}

// Match is the comparison of one run's verdict with the expected one.
type Match uint8

// The matches.
const (
	// Met: the verdict is as expected.
	Met Match = iota + 1
	// Contradicted: no further run can change that.
	Contradicted
	// Open: another run may show the expected verdict, or this one if it is judged
	// again.
	Open
	// Unstated: no verdict was expected, and the property was not violated.
	Unstated
)

// Want returns the expected verdict of a property, if there is one. Violated must occur in at least
// one run, any other verdict in every run.
func (e Expectations) Want(p checker.Property) (want checker.Verdict, wanted bool) {
	want = e[p]
	return want, want != 0 && want != checker.Unknown
}

// Judge compares the verdict of one run with the expected one.
func (e Expectations) Judge(p checker.Property, v checker.Verdict) Match {
	expected, stated := e[p]
	switch {
	case expected == checker.Unknown, v == expected:
		return Met
	case !stated && v != checker.Violated:
		return Unstated
	case v == checker.Unknown, expected == checker.Violated:
		return Open
	}
	return Contradicted
}

// Fulfilled reports whether runs, none of which contradicts the expectation of a property, have
// shown it: seen counts their verdicts. An unknown verdict is not enough even without an
// expectation.
func (e Expectations) Fulfilled(p checker.Property, seen map[checker.Verdict]int, runs int) bool {
	want, wanted := e.Want(p)
	switch {
	case want == checker.Unknown:
		return true
	case !wanted:
		return seen[checker.Unknown] == 0
	case want == checker.Violated:
		return seen[checker.Violated] > 0
	}
	return seen[want] == runs
}

// MarshalYAML writes the mapping in the order of the properties.
func (e Expectations) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range checker.Properties() {
		if v, ok := e[p]; ok {
			n.Content = append(n.Content,
				&yaml.Node{Kind: yaml.ScalarNode, Value: p.String()},
				&yaml.Node{Kind: yaml.ScalarNode, Value: v.String()})
		}
	}
	return n, nil
}
