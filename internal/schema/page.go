package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
)

// block is a generated part of a page: everything between two comments, the first of which names a
// type.
var block = regexp.MustCompile(`(?s)<!-- made: ([a-z-]+) -->\n.*?<!-- /made -->`)

// Page renews the generated parts of a page, from the type with the part's name or from others, and
// returns their names. An unknown name is an error.
func (f *Format) Page(text string, others map[string]string) (renewed string, names []string, err error) {
	renewed = block.ReplaceAllStringFunc(text, func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		names = append(names, name)
		made, known := others[name]
		if t := f.find(name); t != nil {
			made = t.table()
		} else if !known {
			err = fmt.Errorf("schema: there is no type %s", name)
			return old
		}
		return fmt.Sprintf("<!-- made: %s -->\n%s<!-- /made -->", name, made)
	})
	return renewed, names, err
}

func (f *Format) find(name string) *Type {
	for _, t := range f.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// table describes a type.
func (t *Type) table() string {
	var b strings.Builder
	if t.Text != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Text)
	}
	if t.Words != nil {
		b.WriteString("| value | meaning |\n|---|---|\n")
		for _, w := range t.Words {
			fmt.Fprintf(&b, "| `%s` | %s |\n", w.Name, cell(w.Text))
		}
		return b.String()
	}
	if len(t.Fields) == 0 {
		return b.String()
	}
	b.WriteString("| field | value | if left out | meaning |\n|---|---|---|---|\n")
	for _, d := range t.Fields {
		without, text := d.without(), d.Text
		if said := absent.FindStringSubmatch(text); said != nil && !d.Required {
			without, text = said[1], strings.TrimSpace(strings.Replace(text, said[0], "", 1))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.wants(), cell(without), cell(text))
	}
	return b.String()
}

// absent finds the sentence that describes an omitted field.
var absent = regexp.MustCompile(`(?:Nothing means|Nothing:|None:) ([^.]*)\.`)

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// wants describes the values of a field.
func (d Field) wants() string {
	what := sortOf(d.Item, d.Type)
	switch {
	case d.Limit != nil && d.Type == nil || d.List:
		what += within(d.Limit)
	case d.Limit == nil && what == "duration":
		what += ", either way"
	}
	if d.List {
		return "list: " + what
	}
	return what
}

func within(l *form.Limit) string {
	switch {
	case l == nil || l.Pattern != "" || l.Min == "0s" && l.Max == "" && !l.Above:
		return ""
	case l.OneOf != nil:
		return ": `" + strings.Join(l.OneOf, "`, `") + "`"
	case l.Items:
		return ", " + l.String() + " of them"
	}
	return ", " + l.String()
}

func sortOf(of reflect.Type, named *Type) string {
	switch {
	case named != nil && named.Fault:
		return fmt.Sprintf("[%s](faults.md#%s)", named.Name, named.Name)
	case named != nil:
		return fmt.Sprintf("[%s](#%s)", strings.ReplaceAll(named.Name, "-", " "), named.Name)
	case of == reflect.TypeFor[time.Duration]():
		return "duration"
	case of.Kind() == reflect.Bool:
		return "`true` or `false`"
	case of.Kind() == reflect.Float64:
		return "number"
	case of.Kind() == reflect.String:
		return "text"
	}
	return "whole number"
}

// without describes an omitted field.
func (d Field) without() string {
	switch {
	case d.Required:
		return "**required**"
	case d.List:
		return "none"
	case d.Of == reflect.TypeFor[nemesis.Range](), d.Of == reflect.TypeFor[nemesis.Distribution](), d.Of == reflect.TypeFor[time.Duration]():
		return "`0s`"
	case d.Type != nil, d.Of.Kind() == reflect.String:
		return "–"
	case d.Of.Kind() == reflect.Bool:
		return "`false`"
	}
	return "`0`"
}
