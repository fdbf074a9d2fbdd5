package playground

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// The types of the page are those of the calls.
func TestGoldenTypesOfCalls(t *testing.T) {
	testkit.GoldenFile(t, "front/src/api.ts", declarations(), "the page and package playground disagree")
}

// declarations declares the types of all calls in TypeScript.
func declarations() string {
	d := declarer{seen: map[reflect.Type]bool{}}
	var table strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&table, "  %s: [%s, %s];\n", c.name, d.name(c.argument), d.name(c.result))
	}
	var verdicts []string
	for v := checker.Holds; v <= checker.NotApplicable; v++ {
		verdicts = append(verdicts, fmt.Sprintf("%q", v))
	}
	d.texts = append(d.texts, "export type Verdict = "+strings.Join(verdicts, " | ")+";\n")
	slices.Sort(d.texts)
	return "// Made by the tests of package playground from its Go types: make bless.\n\n" +
		"// Calls are the argument and the answer of each call.\nexport interface Calls {\n" + table.String() + "}\n\n" + strings.Join(d.texts, "\n")
}

// declarer declares types.
type declarer struct {
	seen  map[reflect.Type]bool
	texts []string
}

// name returns the name of a type in TypeScript, and declares it if it is a struct of ours.
func (d *declarer) name(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[checker.Verdict]():
		return "Verdict"
	case t.Kind() == reflect.Pointer:
		return d.name(t.Elem())
	case t.Kind() == reflect.Slice:
		return d.name(t.Elem()) + "[]"
	case t.Kind() == reflect.Map && t.Key() == reflect.TypeFor[checker.Verdict]():
		return fmt.Sprintf("Partial<Record<%s, %s>>", d.name(t.Key()), d.name(t.Elem()))
	case t.Kind() == reflect.Map:
		return fmt.Sprintf("Record<string, %s>", d.name(t.Elem()))
	case t.Kind() == reflect.Struct:
		d.declare(t)
		return t.Name()
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.String:
		return "string"
	}
	return "number"
}

func (d *declarer) declare(t reflect.Type) {
	if d.seen[t] {
		return
	}
	d.seen[t] = true
	var text strings.Builder
	fmt.Fprintf(&text, "export interface %s {\n", t.Name())
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := d.name(f.Type)
		if options == "string" {
			of = "string"
		}
		if options == "omitempty" {
			name += "?"
		}
		fmt.Fprintf(&text, "  %s: %s;\n", name, of)
	}
	d.texts = append(d.texts, text.String()+"}\n")
}
