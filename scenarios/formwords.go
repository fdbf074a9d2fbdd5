package scenarios

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/nemesis"
)

// The words in which [checkForm] says what there is, and what is wanted.

// shown is a value for a message, on one line.
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

// scalarWanted says what a type has to be given, and how that is written.
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

// sortOf says what a document has.
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

// sortWanted says what a type has to be given.
func sortWanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration"
	case t == reflect.TypeFor[nemesis.Range]():
		return "{min: …, max: …}"
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

// emptyOf is sortWanted with how nothing is written, where that can be.
func emptyOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list; [] is an empty one"
	case reflect.Map, reflect.Struct:
		return "a mapping; {} is an empty one"
	}
	return sortWanted(t)
}

func alternatives(fields []reflect.StructField) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = nameOf(f)
	}
	return strings.Join(names, ", ")
}
