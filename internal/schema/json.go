package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
)

// object is a part of a JSON schema.
type object map[string]any

// JSON returns the schema (draft 2020-12).
func (f *Format) JSON() ([]byte, error) {
	defs := durations()
	for _, t := range f.Types[1:] {
		defs[t.Name] = t.schema()
	}
	root := f.Types[0].schema()
	root["$schema"], root["title"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", "Lockstorm scenario", defs
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(root)
	return text.Bytes(), err
}

func (t *Type) schema() object {
	switch {
	case t.Words != nil:
		text, names := t.Text, []string{}
		for _, w := range t.Words {
			names = append(names, w.Name)
			if w.Text != "" {
				text += " " + w.Name + ": " + w.Text
			}
		}
		return described(text, object{"type": "string", "enum": names})
	case t.Fields == nil && !t.Fault: // any fields of a scenario
		return described(t.Text, object{"type": "object"})
	}
	properties := object{}
	var required []string
	var variants []object
	for _, field := range t.Fields {
		properties[field.Name] = field.schema()
		if field.Required {
			required = append(required, field.Name)
		}
		if field.Type != nil && field.Type.Fault {
			variants = append(variants, object{"required": []string{field.Name}})
		}
	}
	made := described(t.Text, object{"type": "object", "properties": properties, "additionalProperties": false})
	if required != nil {
		made["required"] = required
	}
	if variants != nil {
		made["oneOf"] = variants
	}
	return made
}

func described(text string, o object) object {
	if text != "" {
		o["description"] = strings.TrimSpace(text)
	}
	return o
}

func (d Field) schema() object {
	switch {
	case !d.List:
		return described(d.Text, d.value(d.Limit))
	case d.Limit != nil && d.Limit.Items:
		return described(d.Text, object{"type": "array", "items": d.value(nil), "minItems": json.Number(d.Limit.Min)})
	}
	return described(d.Text, object{"type": "array", "items": d.value(d.Limit)})
}

// durations are the patterns of durations in the syntax of time.ParseDuration. A pattern cannot
// limit the length.
func durations() object {
	const unsigned = `(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	const as = "A duration: a number with its unit, as in 20ms or 1.5s"
	return object{
		"duration":            object{"description": as + ".", "type": "string", "pattern": `^\+?` + unsigned},
		"duration-above-0":    object{"description": as + ", above 0.", "$ref": "#/$defs/duration", "pattern": "[1-9]"},
		"duration-either-way": object{"description": as + ", or below 0.", "type": "string", "pattern": `^[-+]?` + unsigned},
	}
}

// value returns the schema of one value with a limit, which may be nil.
func (d Field) value(l *form.Limit) object {
	switch {
	case d.Type != nil:
		return object{"$ref": "#/$defs/" + d.Type.Name}
	case d.Item == reflect.TypeFor[time.Duration]():
		return object{"$ref": "#/$defs/" + durationWithin(l)}
	case d.Item.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case d.Item.Kind() == reflect.String:
		return bounded("string", l)
	case d.Item.Kind() == reflect.Float64:
		return bounded("number", l)
	}
	return bounded("integer", l)
}

// bounded returns the schema of a value of a JSON type within a limit.
func bounded(of string, l *form.Limit) object {
	n := object{"type": of}
	switch {
	case l == nil:
		return n
	case l.Word != "":
		return object{"anyOf": []object{bounded(of, l.Numbers()), {"const": l.Word}}}
	}
	add := func(keyword string, number string) {
		if number != "" {
			n[keyword] = json.Number(number)
		}
	}
	switch {
	case l.OneOf != nil:
		n["enum"] = l.OneOf
	case l.Pattern != "":
		n["pattern"] = l.Pattern
	case l.Above:
		add("exclusiveMinimum", l.Min)
	default:
		add("minimum", l.Min)
	}
	add("maximum", l.Max)
	return n
}

func durationWithin(l *form.Limit) string {
	switch {
	case l == nil || l.Min == "":
		return "duration-either-way"
	case l.Required():
		return "duration-above-0"
	}
	return "duration"
}
