package scenarios

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// form compares a document with the type into which it is decoded: its fields, and the kind of each
// value. The YAML library does that too, but it stops at the first error of a type's own decoder,
// names Go types, accepts 2.7 as a whole number, and ignores a field without a value.
type form struct {
	left     int // values that may still be looked at
	mistakes Mistakes
}

// place is the position of a value in a document. It is formatted only for errors, because there
// may be a million samples.
type place struct {
	in    *place
	name  string // of a field; empty: an item of a list
	index int
}

func (p *place) String() string {
	var in string
	if p.in != nil {
		in = p.in.String()
	}
	switch {
	case p.name == "":
		return fmt.Sprintf("%s[%d]", in, p.index)
	case in == "":
		return p.name
	}
	return in + "." + p.name
}

// maxValues is the largest number of values in a document. Aliases could multiply them
// beyond all bounds.
const maxValues = 2 * maxSamples

// checkForm returns all mistakes in the form of a document, in the order of the text. what is the
// name of the document.
func checkForm(n *yaml.Node, what string, t reflect.Type) Mistakes {
	f := &form{left: maxValues}
	f.value(n, t, nil)
	if f.left < 0 {
		return Mistakes{fmt.Errorf("more than %d values: that is no %s", maxValues, what)}
	}
	return f.mistakes
}

func (f *form) wrong(n *yaml.Node, at *place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = at.String() + ": " + text
	}
	f.mistakes = append(f.mistakes, fmt.Errorf("line %d: %s", n.Line, text))
}

func (f *form) value(n *yaml.Node, t reflect.Type, at *place) {
	if f.left--; f.left < 0 {
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[nemesis.Fault]():
		t = nemesis.FaultForm()
	case reflect.TypeFor[Fields]():
		t = reflect.TypeFor[Scenario]()
	}
	switch {
	case n.ShortTag() == "!!null":
		f.wrong(n, at, "there is no value: want %s", emptyOf(t))
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		f.fields(n, t, at)
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		f.entries(n, t, at)
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		f.items(n, t, at)
	case isScalar(t) && n.Kind == yaml.ScalarNode:
		f.scalar(n, t, at)
	default:
		f.wrong(n, at, "there is %s: want %s", sortOf(n), sortWanted(t))
	}
}

func (f *form) items(n *yaml.Node, t reflect.Type, at *place) {
	for i, item := range n.Content {
		f.value(item, t.Elem(), &place{in: at, index: i})
	}
}

// fields checks a mapping that is a struct.
func (f *form) fields(n *yaml.Node, t reflect.Type, at *place) {
	known := fieldsOf(t)
	f.pairs(n, at, func(key, value *yaml.Node) {
		i := slices.IndexFunc(known, func(k reflect.StructField) bool { return nameOf(k) == key.Value })
		if i < 0 {
			f.wrong(key, at, "unknown field %s%s", shortened(key.Value), alternatives(key.Value, known))
			return
		}
		f.value(value, known[i].Type, &place{in: at, name: key.Value})
	})
}

// entries checks a mapping from names to values of one type.
func (f *form) entries(n *yaml.Node, t reflect.Type, at *place) {
	f.pairs(n, at, func(key, value *yaml.Node) {
		f.value(key, t.Key(), at)
		f.value(value, t.Elem(), &place{in: at, name: key.Value})
	})
}

// pairs calls do with the pairs of a mapping, including those of merge keys. A repeated key is a
// mistake.
func (f *form) pairs(n *yaml.Node, at *place, do func(key, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.ShortTag() == "!!merge" {
			f.merged(value, at, do)
			continue
		}
		if line, twice := lines[key.Value]; twice {
			f.wrong(key, at, "%s stands on line %d already", shortened(key.Value), line)
			continue
		}
		lines[key.Value] = key.Line
		do(key, value)
	}
}

// merged is pairs for the value of a merge key: a mapping, or a list of mappings.
func (f *form) merged(n *yaml.Node, at *place, do func(key, value *yaml.Node)) {
	if f.left--; f.left < 0 {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		f.merged(n.Alias, at, do)
	case n.Kind == yaml.MappingNode:
		f.pairs(n, at, do)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			f.merged(item, at, do)
		}
	default:
		f.wrong(n, at, "there is %s to merge: want fields", sortOf(n))
	}
}

func (f *form) scalar(n *yaml.Node, t reflect.Type, at *place) {
	tag := n.ShortTag()
	if reader, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		if err := reader.UnmarshalText([]byte(n.Value)); err != nil {
			f.wrong(n, at, "%v", err)
		}
		return
	}
	fits := tag == "!!str"
	switch {
	case t == reflect.TypeFor[time.Duration]():
		_, err := time.ParseDuration(n.Value)
		fits = fits && err == nil
	case t.Kind() == reflect.Bool:
		fits = tag == "!!bool"
	case t.Kind() == reflect.Float64:
		fits = tag == "!!float" || tag == "!!int"
	case t.Kind() != reflect.String:
		fits = tag == "!!int"
	}
	switch {
	case fits && n.Decode(reflect.New(t).Interface()) == nil:
	case tooLarge(n.Value, t):
		f.wrong(n, at, "%s is too large", shown(n))
	default:
		f.wrong(n, at, "%s is not %s", shown(n), scalarWanted(t))
	}
}

// tooLarge reports whether a text would be a duration or a whole number if it had fewer digits.
func tooLarge(text string, t reflect.Type) bool {
	if t != reflect.TypeFor[time.Duration]() {
		return t.Kind() != reflect.String && text != "" && strings.Trim(text, "+-0123456789") == ""
	}
	zeros := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
	_, err := time.ParseDuration(zeros)
	return err == nil && zeros != "0"
}

func isScalar(t reflect.Type) bool {
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Map && t.Kind() != reflect.Slice
}

// fieldsOf returns the fields of a struct in a file, including those of inline structs.
func fieldsOf(t reflect.Type) []reflect.StructField {
	var list []reflect.StructField
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case strings.Contains(f.Tag.Get("yaml"), ",inline"):
			list = append(list, fieldsOf(f.Type)...)
		case nameOf(f) != "" && nameOf(f) != "-":
			list = append(list, f)
		}
	}
	return list
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// The words with which [checkForm] describes the actual and the wanted value.

// shown prints a value for a message, on one line.
func shown(n *yaml.Node) string {
	if n.ShortTag() == "!!str" {
		return strconv.Quote(shortened(n.Value))
	}
	return shortened(n.Value)
}

func shortened(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// scalarWanted describes the values of a type, and how to write them.
func scalarWanted(t reflect.Type) string {
	what := sortWanted(t)
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return what + ": want a number with its unit, as in 20ms or 1.5s"
	case t.Kind() == reflect.String:
		return what + ": want it in quotes"
	}
	return what
}

// sortOf describes the kind of a value in a document.
func sortOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	}
	return "a " + strings.TrimPrefix(n.ShortTag(), "!!")
}

// sortWanted describes the values that a type accepts.
func sortWanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration"
	case t == reflect.TypeFor[nemesis.Range]():
		return "{min: …, max: …}"
	case t.Kind() == reflect.Struct && len(fieldsOf(t)) <= fewFields:
		return "a mapping, as in " + sampleOf(t)
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return "a mapping"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "a whole number"
}

// fewFields is the number of fields up to which messages list all of them.
const fewFields = 8

// sampleOf shows the fields of a mapping: {every: …, unbounded: true}.
func sampleOf(t reflect.Type) string {
	var list []string
	for _, f := range fieldsOf(t) {
		value := "…"
		if f.Type.Kind() == reflect.Bool {
			value = "true"
		}
		list = append(list, nameOf(f)+": "+value)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// emptyOf is sortWanted with how to write nothing, where that is possible.
func emptyOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list; [] is an empty one"
	case reflect.Map, reflect.Struct:
		return "a mapping; {} is an empty one"
	}
	return sortWanted(t)
}

// structOf returns the struct of a field, or nil.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		return t
	}
	return nil
}

// alternatives names the field that has the name as its own field, or else lists the known
// fields; if there are many, those that resemble the name.
func alternatives(name string, fields []reflect.StructField) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = nameOf(f)
		if of := structOf(f.Type); of != nil && slices.ContainsFunc(fieldsOf(of), func(in reflect.StructField) bool { return nameOf(in) == name }) {
			return ": it belongs in " + names[i]
		}
	}
	if len(names) <= fewFields {
		return ": want " + strings.Join(names, ", ")
	}
	return "; " + textfmt.NearestOf(name, names)
}
