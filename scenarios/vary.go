package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// With returns the scenario with one field replaced. The path names the field as errors do:
// "lock.ttl", "plan[0].end.after". The value is YAML. A field that the scenario leaves out is
// added.
func (s Scenario) With(path, value string) (Scenario, error) {
	return s.WithAll(FieldValue{path, value})
}

// FieldValue is a field of a scenario, by its path, and a value as YAML.
type FieldValue struct{ Path, Value string }

// WithAll is [Scenario.With] for several fields. Only the result with all of them has to be valid. An
// error names the fields.
func (s Scenario) WithAll(fields ...FieldValue) (Scenario, error) {
	changed, names := s, make([]string, len(fields))
	var err error
	for i, f := range fields {
		names[i] = f.Path + "=" + f.Value
		if err == nil {
			changed, err = changed.with(f.Path, f.Value)
		}
	}
	if err == nil {
		err = changed.Validate()
	}
	if err != nil {
		return Scenario{}, fmt.Errorf("%s: %s", strings.Join(names, " "), lineNumber.ReplaceAllString(err.Error(), ""))
	}
	return changed, nil
}

// lineNumber is the line of an error in a text that the user has not written.
var lineNumber = regexp.MustCompile(`(?m)^line \d+: `)

func (s Scenario) with(path, value string) (Scenario, error) {
	steps, err := parsePath(path)
	if err != nil {
		return s, err
	}
	var root, wanted yaml.Node
	if err := yaml.Unmarshal([]byte(value), &wanted); err != nil || len(wanted.Content) == 0 {
		return s, errors.New("the value is not YAML")
	}
	if err := root.Encode(s); err != nil {
		return s, err
	}
	if err := put(&root, "", steps, wanted.Content[0]); err != nil {
		return s, err
	}
	var text bytes.Buffer
	if err := yaml.NewEncoder(&text).Encode(&root); err != nil {
		return s, err
	}
	var f File
	err = form.Decode(text.Bytes(), "scenario", &f)
	return f.Scenario, err
}

// pathStep is a field of a mapping, or an index of a list.
type pathStep struct {
	field string
	index int // if field is ""
}

var pathPart = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*)((?:\[\d+\])*)$`)

// parsePath splits a path such as "plan[0].end.after".
func parsePath(path string) (steps []pathStep, err error) {
	for part := range strings.SplitSeq(path, ".") {
		m := pathPart.FindStringSubmatch(part)
		if m == nil {
			return nil, errors.New("want the path of a field, such as lock.ttl or plan[0].end.after")
		}
		steps = append(steps, pathStep{field: m[1]})
		for index := range strings.SplitSeq(strings.Trim(m[2], "[]"), "][") {
			if index == "" {
				continue
			}
			n, err := strconv.Atoi(index)
			if err != nil {
				return nil, err
			}
			steps = append(steps, pathStep{index: n})
		}
	}
	return steps, nil
}

// put replaces the value at the path below a node. It adds missing fields, but no entries of lists. The node
// is at a path.
func put(n *yaml.Node, path string, steps []pathStep, value *yaml.Node) error {
	if len(steps) == 0 {
		*n = *value
		return nil
	}
	step := steps[0]
	switch {
	case step.field == "" && n.Kind != yaml.SequenceNode:
		return fmt.Errorf("[%d]: not a list", step.index)
	case step.field == "":
		if step.index >= len(n.Content) {
			var names []string
			for i := range n.Content {
				names = append(names, fmt.Sprintf("%s[%d]", path, i))
			}
			return fmt.Errorf("%s has %s: %s", path, textfmt.Count(len(names), "entry"), strings.Join(names, ", "))
		}
		return put(n.Content[step.index], fmt.Sprintf("%s[%d]", path, step.index), steps[1:], value)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", n.Kind == 0:
		*n = yaml.Node{Kind: yaml.MappingNode}
	case n.Kind != yaml.MappingNode:
		return fmt.Errorf("%s: its parent has no fields", step.field)
	}
	path = strings.TrimPrefix(path+"."+step.field, ".")
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == step.field {
			return put(n.Content[i+1], path, steps[1:], value)
		}
	}
	below := &yaml.Node{}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: step.field}, below)
	return put(below, path, steps[1:], value)
}
