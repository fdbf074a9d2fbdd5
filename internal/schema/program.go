package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/program"
)

// ProgramTables generates the tables of docs/other-languages.md, by name, from the messages of package
// program and their comments in the source below root.
func ProgramTables(root string) (map[string]string, error) {
	c, err := readComments(root, "internal/program")
	if err != nil {
		return nil, err
	}
	to, from := reflect.TypeFor[program.ToProgram](), reflect.TypeFor[program.FromProgram]()
	return map[string]string{
		"messages-to-program":   c.messages(func(t program.Type) bool { return !slices.Contains(program.Types(), t) }),
		"messages-from-program": c.messages(func(t program.Type) bool { return slices.Contains(program.Types(), t) }),
		"fields-to-program":     c.messageFields(to),
		"fields-from-program":   c.messageFields(from),
	}, nil
}

// messages returns a table of some messages with what they mean.
func (c comments) messages(of func(program.Type) bool) string {
	var b strings.Builder
	b.WriteString("| type | meaning |\n|---|---|\n")
	for _, k := range c.values["program.Type"] {
		if of(program.Type(k.value)) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", k.value, cell(sentence(k.text)))
		}
	}
	return b.String()
}

// messageFields returns a table of the fields of messages.
func (c comments) messageFields(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("| field | value | in | meaning |\n|---|---|---|---|\n")
	for i := range t.NumField() {
		f := t.Field(i)
		text, in := c.text["program."+t.Name()+"."+f.Name], ""
		text = sentence(strings.TrimPrefix(text, f.Name+" is "))
		if before, after, found := strings.Cut(text, " In "); found {
			text, in = before, strings.TrimSuffix(after, ".")
		} else {
			in = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", nameInLine(f), jsonValue(f.Type), cell(in), cell(text))
	}
	return b.String()
}

// jsonValue describes the values of a field of a message.
func jsonValue(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonValue(t.Elem())
	case reflect.Slice:
		return "list of strings"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "`true` or `false`"
	case reflect.Float64:
		return "number"
	}
	return "whole number"
}
