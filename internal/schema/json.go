package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// node is a JSON schema, as far as the format needs it. A struct keeps the order of the keywords.
type node struct {
	Dialect     string      `json:"$schema,omitempty"`
	Title       string      `json:"title,omitempty"`
	Description string      `json:"description,omitempty"`
	Ref         string      `json:"$ref,omitempty"`
	Type        string      `json:"type,omitempty"`
	Enum        []string    `json:"enum,omitempty"`
	Pattern     string      `json:"pattern,omitempty"`
	Minimum     json.Number `json:"minimum,omitempty"`
	Above       json.Number `json:"exclusiveMinimum,omitempty"`
	Maximum     json.Number `json:"maximum,omitempty"`
	Items       *node       `json:"items,omitempty"`
	MinItems    json.Number `json:"minItems,omitempty"`
	Properties  *members    `json:"properties,omitempty"`
	Required    []string    `json:"required,omitempty"`
	NoOthers    *bool       `json:"additionalProperties,omitempty"` // false
	OneOf       []*node     `json:"oneOf,omitempty"`
	Defs        *members    `json:"$defs,omitempty"`
}

// members are the members of a JSON object in a given order.
type members struct {
	names  []string
	values []*node
}

func (m *members) add(name string, v *node) {
	m.names, m.values = append(m.names, name), append(m.values, v)
}

// MarshalJSON writes the members in their order.
func (m *members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range m.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.values[i])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// JSON returns the schema (draft 2020-12).
func (f *Format) JSON() ([]byte, error) {
	root := f.mapping(f.Types[0])
	root.Dialect = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "Lockstorm scenario"
	root.Defs = durations()
	for _, t := range f.Types[1:] {
		switch {
		case t.Fields != nil:
			root.Defs.add(t.Name, f.mapping(t))
		case t.Words == nil: // any fields of a scenario
			root.Defs.add(t.Name, &node{Description: t.Text, Type: "object"})
		default:
			root.Defs.add(t.Name, &node{Description: described(t), Type: "string", Enum: wordNames(t)})
		}
	}
	text, err := marshal(root)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// described lists words with their meanings.
func described(t *Type) string {
	text := t.Text
	for _, w := range t.Words {
		if w.Text != "" {
			if text != "" {
				text += " "
			}
			text += w.Name + ": " + w.Text
		}
	}
	return text
}

func wordNames(t *Type) []string {
	names := make([]string, len(t.Words))
	for i, w := range t.Words {
		names[i] = w.Name
	}
	return names
}

func (f *Format) mapping(t *Type) *node {
	n := &node{Description: t.Text, Type: "object", Properties: &members{}, NoOthers: new(bool)}
	for _, field := range t.Fields {
		n.Properties.add(field.Name, field.node())
		if field.Required {
			n.Required = append(n.Required, field.Name)
		}
		if field.Type != nil && field.Type.Kind != "" {
			n.OneOf = append(n.OneOf, &node{Required: []string{field.Name}})
		}
	}
	return n
}

func (d Field) node() *node {
	if !d.List {
		n := value(d.Of, d.Type, d.Limit)
		n.Description = d.Text
		return n
	}
	n := &node{Description: d.Text, Type: "array"}
	if d.Limit != nil && d.Limit.Items {
		n.MinItems = json.Number(d.Limit.Min)
		n.Items = value(d.Of.Elem(), d.Type, nil)
	} else {
		n.Items = value(d.Of.Elem(), d.Type, d.Limit)
	}
	return n
}

// durations are the patterns of durations in the syntax of time.ParseDuration. A pattern cannot
// limit the length.
func durations() *members {
	const unsigned = `(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	const as = "A duration: a number with its unit, as in 20ms or 1.5s"
	m := &members{}
	m.add("duration", &node{Description: as + ".", Type: "string", Pattern: `^\+?` + unsigned})
	m.add("duration-above-0", &node{Description: as + ", above 0.", Ref: "#/$defs/duration", Pattern: "[1-9]"})
	m.add("duration-either-way", &node{Description: as + ", or below 0.", Type: "string", Pattern: `^[-+]?` + unsigned})
	return m
}

// value returns the schema of one value with a limit, which may be nil.
func value(of reflect.Type, named *Type, l *nemesis.Limit) *node {
	switch {
	case named != nil:
		return &node{Ref: "#/$defs/" + named.Name}
	case of == reflect.TypeFor[time.Duration]():
		return duration(l)
	case of.Kind() == reflect.Bool:
		return &node{Type: "boolean"}
	case of.Kind() == reflect.String && l == nil:
		return &node{Type: "string"}
	case of.Kind() == reflect.String:
		return &node{Type: "string", Enum: l.OneOf, Pattern: l.Pattern}
	}
	n := &node{Type: "integer"}
	if of.Kind() == reflect.Float64 {
		n.Type = "number"
	}
	if l != nil && l.Above {
		n.Above, n.Maximum = json.Number(l.Min), json.Number(l.Max)
	} else if l != nil {
		n.Minimum, n.Maximum = json.Number(l.Min), json.Number(l.Max)
	}
	return n
}

func duration(l *nemesis.Limit) *node {
	name := "duration"
	switch {
	case l == nil || l.Min == "":
		name = "duration-either-way"
	case l.Required():
		name = "duration-above-0"
	}
	return &node{Ref: "#/$defs/" + name}
}
