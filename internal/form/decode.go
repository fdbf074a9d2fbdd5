package form

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
)

// decoder decodes a document into a value by the value's type.
type decoder struct {
	left     int // how many more values may be decoded
	mistakes Mistakes
}

// maxValues is the largest number of values in a document. It stops documents that multiply values by
// aliases. A scenario may have a million samples.
const maxValues = 2_000_000

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

// Apply decodes a node of YAML into what value points to, and returns all mistakes. A mapping replaces only
// the fields that it has; a list replaces the whole list. what is the name of the document in messages.
func Apply(n *yaml.Node, what string, value any) error {
	d := &decoder{left: maxValues}
	d.value(n, reflect.ValueOf(value).Elem(), nil)
	switch {
	case d.left < 0:
		return Mistakes{fmt.Errorf("more than %d values: that is no %s", maxValues, what)}
	case d.mistakes != nil:
		return d.mistakes
	}
	return nil
}

func (d *decoder) wrong(n *yaml.Node, at *place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = at.String() + ": " + text
	}
	d.mistakes = append(d.mistakes, fmt.Errorf("line %d: %s", n.Line, text))
}

// Raw is a value that keeps its YAML. Keep receives the node, which is then decoded into what As points to.
type Raw interface {
	Keep(n *yaml.Node)
	As() any
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, at *place) {
	if d.left--; d.left < 0 {
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		if raw, ok := v.Addr().Interface().(Raw); ok {
			raw.Keep(n)
			v = reflect.ValueOf(raw.As()).Elem()
		}
	}
	switch t := v.Type(); {
	case n.ShortTag() == "!!null":
		d.wrong(n, at, "there is no value: want %s", emptyOf(t))
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		d.fields(n, v, at)
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		d.entries(n, v, at)
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		list := reflect.MakeSlice(t, len(n.Content), len(n.Content))
		for i, item := range n.Content {
			d.value(item, list.Index(i), &place{in: at, index: i})
		}
		v.Set(list)
	case n.Kind == yaml.ScalarNode && (isScalar(t) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())):
		d.scalar(n, v, at)
	default:
		d.wrong(n, at, "there is %s: want %s", sortOf(n), sortWanted(t))
	}
}

// fields decodes a mapping into a struct. It sets the variant of a [Union] only if the mapping has one variant.
func (d *decoder) fields(n *yaml.Node, v reflect.Value, at *place) {
	known, variants := Fields(v.Type()), 0
	d.pairs(n, at, map[string]int{}, func(key, value *yaml.Node) {
		i := slices.IndexFunc(known, func(f *Field) bool { return f.Name == key.Value })
		if others := tableOf(v.Type()).others; i < 0 && others != nil {
			d.entry(key, value, v.FieldByIndex(others.Index), at)
			return
		}
		if i < 0 {
			d.wrong(key, at, "unknown field %s%s", shortened(key.Value), alternatives(key.Value, known))
			last := &d.mistakes[len(d.mistakes)-1]
			*last = &UnknownField{key.Value, *last}
			return
		}
		f, in := known[i], &place{in: at, name: key.Value}
		field := v.FieldByIndex(f.Index)
		if f.Limit != nil && f.Limit.Word != "" {
			d.numberOrWord(value, field, f.Limit, in)
			return
		}
		if !f.variant {
			d.value(value, field, in)
			return
		}
		variant := reflect.New(f.Of)
		d.value(value, variant.Elem(), in)
		if variants++; variants > 1 {
			variant = reflect.Zero(field.Type())
		}
		field.Set(variant)
	})
}

// numberOrWord decodes a whole number, or the word that may stand in its place.
func (d *decoder) numberOrWord(n *yaml.Node, v reflect.Value, l *Limit, at *place) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Value == l.Word:
		v.SetInt(WordValue)
	case n.ShortTag() == "!!str":
		d.wrong(n, at, "%s is neither a whole number nor %s", shown(n), l.Word)
	default:
		if d.value(n, v, at); v.Int() == WordValue {
			d.wrong(n, at, "%v", l.refuse(WordValue, WordValue))
		}
	}
}

// entries decodes a mapping from names to values of one type.
func (d *decoder) entries(n *yaml.Node, v reflect.Value, at *place) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	d.pairs(n, at, map[string]int{}, func(key, value *yaml.Node) { d.entry(key, value, v, at) })
}

func (d *decoder) entry(key, value *yaml.Node, v reflect.Value, at *place) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	d.value(key, k, at)
	d.value(value, e, &place{in: at, name: key.Value})
	v.SetMapIndex(k, e)
}

// pairs calls do with the pairs of a mapping, and then with those pairs of its merge keys whose keys it
// lacks. A repeated key is a mistake. lines maps the keys so far to their lines.
func (d *decoder) pairs(n *yaml.Node, at *place, lines map[string]int, do func(key, value *yaml.Node)) {
	var merged []*yaml.Node
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		line, met := lines[key.Value]
		switch {
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case own[key.Value]:
			d.wrong(key, at, "%s stands on line %d already", shortened(key.Value), line)
		case !met:
			lines[key.Value], own[key.Value] = key.Line, true
			do(key, value)
		}
	}
	for _, value := range merged {
		d.merge(value, at, lines, do)
	}
}

// merge is pairs for the value of a merge key: a mapping, or a list of mappings.
func (d *decoder) merge(n *yaml.Node, at *place, lines map[string]int, do func(key, value *yaml.Node)) {
	if d.left--; d.left < 0 {
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		d.merge(n.Alias, at, lines, do)
	case yaml.MappingNode:
		d.pairs(n, at, lines, do)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			d.merge(item, at, lines, do)
		}
	default:
		d.wrong(n, at, "there is %s to merge: want fields", sortOf(n))
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, at *place) {
	t, tag := v.Type(), n.ShortTag()
	if reader, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := reader.UnmarshalText([]byte(n.Value)); err != nil {
			d.wrong(n, at, "%v", err)
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
	case fits && n.Decode(v.Addr().Interface()) == nil:
	case tooLarge(n.Value, t):
		d.wrong(n, at, "%s is too large", shown(n))
	default:
		d.wrong(n, at, "%s is not %s", shown(n), scalarWanted(t))
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

// The words with which messages describe the actual and the wanted value.

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
		return what + ": want a number with its unit, as in 20ms or 1.5s; the largest unit is h, as in 24h"
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
	case t.Kind() == reflect.Struct && len(Fields(t)) <= fewFields:
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

// longName is the least number of letters of a name that is compared with fields of fields: short ones resemble
// too many of them.
const longName = 6

// sampleOf shows the fields of a mapping: {every: …, unbounded: true}.
func sampleOf(t reflect.Type) string {
	var list []string
	for _, f := range Fields(t) {
		value := "…"
		if f.Of.Kind() == reflect.Bool {
			value = "true"
		}
		list = append(list, f.Name+": "+value)
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

// alternatives names the field that has the name as its own field, or else lists the known fields; if
// there are many, those that resemble the name, or else a field of one of them that does.
func alternatives(name string, fields []*Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		if f.Of.Kind() == reflect.Struct && slices.ContainsFunc(Fields(f.Of), func(in *Field) bool { return in.Name == name }) {
			return ": it belongs in " + f.Name
		}
	}
	if len(names) <= fewFields {
		if len(names) == 0 {
			return ": want none"
		}
		return ": want " + strings.Join(names, ", ")
	}
	if len(textfmt.Nearest(name, names, 1)) == 0 && len(name) >= longName {
		for _, f := range fields {
			if f.Of.Kind() != reflect.Struct {
				continue
			}
			var inner []string
			for _, in := range Fields(f.Of) {
				inner = append(inner, in.Name)
			}
			if near := textfmt.Nearest(name, inner, 1); len(near) > 0 {
				return ": the nearest is " + f.Name + "." + near[0]
			}
		}
	}
	return "; " + textfmt.NearestOf(name, names)
}
