package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/form"
)

// block is a generated part of a page: everything between two comments, the first of which names a
// type.
var block = regexp.MustCompile(`(?s)<!-- made: ([a-z-]+) -->\n.*?<!-- /made -->`)

// Page renews the generated parts of a page, from the type with the part's name or from others, and
// returns their names. An unknown name is an error.
func (f *Format) Page(text string, others map[string]string) (renewed string, names []string, err error) {
	said := written{}
	renewed = block.ReplaceAllStringFunc(text, func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		names = append(names, name)
		made, known := others[name]
		if t := f.find(name); t != nil {
			made = said.list(t)
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

// written are the types in whose lists the texts of a page stand. A long one stands once.
type written map[string]string

// once returns a text, or in its place where it stands.
func (s written) once(text, in string) string {
	if there := s[text]; there != "" && len(text) > 60 {
		return fmt.Sprintf("See [%s](#%s).", there, there)
	}
	s[text] = in
	return text
}

// all returns the type in whose list the texts of all words stand, if there is one.
func (s written) all(words []Word) (there string) {
	for _, w := range words {
		if there = s[w.Text]; there == "" || there != s[words[0].Text] {
			return ""
		}
	}
	return there
}

// list describes a type.
func (s written) list(t *Type) string {
	var b strings.Builder
	if t.Text != "" && s[t.Text] == "" {
		fmt.Fprintf(&b, "%s\n\n", t.Text)
		s[t.Text] = t.Name
	}
	if there := s.all(t.Words); there != "" {
		fmt.Fprintf(&b, "One of those in [%s](#%s).\n", there, there)
		return b.String()
	}
	for _, w := range t.Words {
		fmt.Fprintf(&b, "- `%s`: %s\n", w.Name, s.once(w.Text, t.Name))
	}
	var faults []string
	for _, d := range t.Fields {
		if d.Type != nil && d.Type.Fault {
			faults = append(faults, "`"+d.Name+"`")
			continue
		}
		text := s.once(d.Text, t.Name)
		if said := absent.FindStringSubmatch(text); said != nil && !d.Required {
			text = strings.TrimSpace(strings.Replace(text, said[0], "", 1)) + " If left out: " + said[1] + "."
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", d.Name, d.wants(), text)
	}
	if faults != nil {
		fmt.Fprintf(&b, "- one of %s: a [kind of fault](faults.md) with its fields.\n", strings.Join(faults, ", "))
	}
	return b.String()
}

// absent finds the sentence that describes an omitted field.
var absent = regexp.MustCompile(`(?:Nothing means|Nothing:|None:) ([^.]*)\.`)

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
		what = "list: " + what
	}
	if d.Required {
		what += ", **required**"
	}
	return what
}

func within(l *form.Limit) string {
	switch {
	case l == nil || l.Pattern != "" || (l.Min == "0s" || l.Min == "0") && l.Max == "" && !l.Above && l.Word == "":
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
		return "boolean"
	case of.Kind() == reflect.Float64:
		return "number"
	case of.Kind() == reflect.String:
		return "text"
	}
	return "whole number"
}
