package scenarios

import (
	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
)

// Expectations are the verdicts that properties should get. Of a property that they
// leave out nothing is expected, and a violation of it is a surprise; where unknown is
// expected nobody says what the verdict will be.
type Expectations map[checker.Property]checker.Verdict

// Match is how the verdict of one run compares with what was expected.
type Match uint8

// The matches.
const (
	// Met: the verdict is what was expected.
	Met Match = iota + 1
	// Contradicted: no further run can mend it.
	Contradicted
	// Open: a further run may show what was expected, or this one if it is judged
	// again.
	Open
	// Unstated: nothing was expected, and nothing was violated.
	Unstated
)

// Want returns the verdict that a property has to get, if there is one: it has to be
// violated in one run at least, and to get any other in every run.
func (e Expectations) Want(p checker.Property) (want checker.Verdict, wanted bool) {
	want = e[p]
	return want, want != 0 && want != checker.Unknown
}

// Judge compares the verdict of one run with what was expected.
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

// Fulfilled reports whether so many runs, none of which contradicts what was expected
// of a property, have shown it: seen counts their verdicts. A verdict that was left
// open is not enough even where nothing was expected.
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
