package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// MarshalJSON writes the content of [Scenario.Print] as JSON, so that [Parse] can
// read it. Members are in alphabetical order.
func (s Scenario) MarshalJSON() ([]byte, error) {
	return AsJSON(s)
}

// AsJSON converts the YAML of a value, whose type has the tags of a scenario's types, to JSON, so
// that [Decode] can read it.
func AsJSON(value any) ([]byte, error) {
	var n yaml.Node
	if err := n.Encode(value); err != nil {
		return nil, err
	}
	return appendJSON(nil, &n)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Scenario) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	*s = parsed
	return err
}

// Encoded is a scenario with its JSON, for callers that write the same scenario many times:
// encoding
// takes as long as a small run.
type Encoded struct {
	Scenario
	text []byte // nil: it is made when it is asked for
}

// Encoded returns the scenario with its JSON.
func (s Scenario) Encoded() (Encoded, error) {
	text, err := s.MarshalJSON()
	return Encoded{s, text}, err
}

// MarshalJSON is [Scenario.MarshalJSON].
func (e Encoded) MarshalJSON() ([]byte, error) {
	if e.text == nil {
		return e.Scenario.MarshalJSON()
	}
	return e.text, nil
}

// appendJSON appends a value of YAML as JSON.
func appendJSON(to []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return appendObject(to, n)
	case yaml.SequenceNode:
		to = append(to, '[')
		for i, value := range n.Content {
			if i > 0 {
				to = append(to, ',')
			}
			var err error
			if to, err = appendJSON(to, value); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	case yaml.ScalarNode:
		return appendScalar(to, n)
	}
	return nil, fmt.Errorf("line %d: an alias, or a document in a document", n.Line)
}

func appendObject(to []byte, n *yaml.Node) ([]byte, error) {
	type member struct{ name, value *yaml.Node }
	var members []member
	for i := 0; i < len(n.Content); i += 2 {
		members = append(members, member{n.Content[i], n.Content[i+1]})
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name.Value, b.name.Value) })
	to = append(to, '{')
	for i, m := range members {
		if i > 0 {
			to = append(to, ',')
		}
		name, err := json.Marshal(m.name.Value)
		if err != nil {
			return nil, err
		}
		to = append(append(to, name...), ':')
		if to, err = appendJSON(to, m.value); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

// appendScalar appends the value that YAML assigns to the scalar: a number, a text, …
func appendScalar(to []byte, n *yaml.Node) ([]byte, error) {
	var value any = n.Value
	if n.ShortTag() != "!!str" {
		if err := n.Decode(&value); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(value)
	return append(to, text...), err
}
