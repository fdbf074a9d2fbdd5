package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Print writes the scenario as YAML.
func (s Scenario) Print(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(s); err != nil {
		return err
	}
	return enc.Close()
}

// Parse reads one scenario in YAML, or in JSON, which is a part of it. An
// error names the line; unknown fields are errors.
func Parse(text []byte) (Scenario, error) {
	s, err := decode(text)
	if err != nil {
		return Scenario{}, err
	}
	if err := s.Validate(); err != nil {
		return Scenario{}, Locate(text, err)
	}
	return s, nil
}

// decode reads a scenario whose values may be impossible.
func decode(text []byte) (Scenario, error) {
	var s Scenario
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return Scenario{}, tidy(err)
	}
	if dec.Decode(new(yaml.Node)) != io.EOF {
		return Scenario{}, errors.New("more than one document: a file holds one scenario")
	}
	s.Setting.Clients = len(s.Clients)
	return s, nil
}

// Expectations are the verdicts that properties should get.
type Expectations map[checker.Property]checker.Verdict

// UnmarshalYAML reads a mapping of properties to verdicts. It exists so that
// an unknown name is reported with its line.
func (e *Expectations) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expect: want a mapping of properties to verdicts", n.Line)
	}
	*e = Expectations{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var p checker.Property
		var v checker.Verdict
		if err := p.UnmarshalText([]byte(n.Content[i].Value)); err != nil {
			return fmt.Errorf("line %d: %w", n.Content[i].Line, err)
		}
		if err := v.UnmarshalText([]byte(n.Content[i+1].Value)); err != nil {
			return fmt.Errorf("line %d: %w", n.Content[i+1].Line, err)
		}
		(*e)[p] = v
	}
	return nil
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

// tidy makes one line of what the YAML library reports.
func tidy(err error) error {
	var all *yaml.TypeError
	if errors.As(err, &all) {
		return errors.New(strings.Join(all.Errors, "; "))
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}

// Locate puts the line of the text in front of an error that knows the path to
// its value; any other error stays as it is.
func Locate(text []byte, err error) error {
	var wrong *nemesis.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", line(root.Content[0], wrong.Path), err)
}

// line returns the line of the value that the path leads to, or of the last
// part of the way that exists.
func line(n *yaml.Node, path string) int {
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := child(n, part)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}

func child(n *yaml.Node, part string) *yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// MarshalJSON writes what [Scenario.Print] writes as JSON, so that [Parse] can
// read it.
func (s Scenario) MarshalJSON() ([]byte, error) {
	text, err := yaml.Marshal(s)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Scenario) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	*s = parsed
	return err
}
