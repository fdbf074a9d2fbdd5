package schema

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Format is the format of scenario files: its types, the scenario first.
type Format struct {
	Types []*Type

	comments comments
	byType   map[reflect.Type]*Type
}

// Type is a named type of value: a mapping with fields, or a set of words.
type Type struct {
	Name   string // as in "log-normal"
	Text   string
	Fields []Field
	Words  []Word
	Fault  bool // it is a kind of fault
}

// Field is one field of a mapping.
type Field struct {
	*form.Field
	Text     string
	Required bool
	Item     reflect.Type // of the value, or of its items
	Type     *Type        // of these; nil: it has no name
	List     bool
}

// Word is one of the possible words of a value.
type Word struct{ Name, Text string }

// Read derives the format from the types, and from their comments in the source below root.
func Read(root string) (*Format, error) {
	c, err := readComments(root, "scenarios", "nemesis", "history", "guard", "env", "checker")
	if err != nil {
		return nil, err
	}
	f := &Format{comments: c, byType: map[reflect.Type]*Type{}}
	file := f.typeOf(reflect.TypeFor[scenarios.File]())
	file.Name, file.Text = "scenario", f.textOf(reflect.TypeFor[scenarios.Scenario](), "Scenario", "scenario")
	return f, nil
}

// unnamed are the types that are described where they stand.
var unnamed = []reflect.Type{reflect.TypeFor[time.Duration](), reflect.TypeFor[nemesis.Plan](), reflect.TypeFor[nemesis.Kind]()}

// otherNames are the types whose name in a file differs from that in Go.
var otherNames = map[reflect.Type]string{
	reflect.TypeFor[guard.Mode]():           "guard",
	reflect.TypeFor[scenarios.Breakage]():   "damage",
	reflect.TypeFor[scenarios.Divergence](): "difference",
}

// typeOf returns the description of a type, or nil if it has no name of interest to readers.
func (f *Format) typeOf(t reflect.Type) *Type {
	if known, ok := f.byType[t]; ok {
		return known
	}
	if t.PkgPath() == "" || slices.Contains(unnamed, t) {
		return nil
	}
	name := hyphened(t.Name())
	d := &Type{Name: name, Text: f.textOf(t, t.Name(), name)}
	if other, ok := otherNames[t]; ok {
		d.Name = other
	}
	f.byType[t] = d
	f.Types = append(f.Types, d)
	switch t {
	case reflect.TypeFor[checker.Property]():
		d.Words = f.named(t, texts(checker.Properties()...))
	case reflect.TypeFor[nemesis.StepName]():
		d.Words = f.named(reflect.TypeFor[env.Step](), texts(env.Steps()...))
	case reflect.TypeFor[checker.Verdict]():
		d.Words = f.named(t, texts(checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable))
	case reflect.TypeFor[scenarios.Expectations]():
		verdict := reflect.TypeFor[checker.Verdict]()
		for _, w := range f.named(reflect.TypeFor[checker.Property](), texts(checker.Properties()...)) {
			d.Fields = append(d.Fields, Field{Field: &form.Field{Name: w.Name, Of: verdict}, Text: w.Text, Item: verdict, Type: f.typeOf(verdict)})
		}
	case reflect.TypeFor[nemesis.Weights]():
		names, _ := nemesis.Kinds()
		limit, number := &form.Limit{Min: "0", Max: fmt.Sprint(nemesis.MaxWeight)}, reflect.TypeFor[int]()
		for _, k := range append([]nemesis.Kind{nemesis.AllKinds}, names...) {
			d.Fields = append(d.Fields, Field{Field: &form.Field{Name: string(k), Of: number, Limit: limit}, Item: number})
		}
	default:
		if t.Kind() == reflect.String {
			for _, k := range f.comments.values[goName(t)] {
				if k.value != "" {
					d.Words = append(d.Words, Word{k.value, f.words(k.text, k.name, k.value)})
				}
			}
		}
		if t.Kind() == reflect.Struct {
			for _, field := range form.Fields(t) {
				d.Fields = append(d.Fields, f.field(field))
			}
		}
	}
	return d
}

func goName(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// textOf returns the comment of a type for readers of files, who know it by another name.
func (f *Format) textOf(t reflect.Type, old, name string) string {
	return f.words(f.comments.text[goName(t)], old, name)
}

func (f *Format) field(from *form.Field) Field {
	d := Field{Field: from, Item: from.Of, List: from.Of.Kind() == reflect.Slice}
	if d.List {
		d.Item = from.Of.Elem()
	}
	d.Type = f.typeOf(d.Item)
	if kind, isAction := nemesis.Kind(from.Name), reflect.PointerTo(from.Of).Implements(reflect.TypeFor[nemesis.Action]()); isAction {
		_, what := nemesis.Kinds()
		d.Type.Name, d.Type.Fault, d.Text = from.Name, true, sentence(what[kind])
		return d
	}
	if d.Item == reflect.TypeFor[string]() {
		d.Type = f.wordsOf(from.Go)
	}
	d.Text = f.words(f.comments.text[goName(from.Owner)+"."+from.Go], from.Go, from.Name)
	if d.Text == "" && d.Type != nil {
		d.Text = d.Type.Text
	}
	needsFields := !d.List && d.Type != nil && slices.ContainsFunc(d.Type.Fields, func(in Field) bool { return in.Required })
	d.Required = !from.Optional && (from.Limit.Required() || from.Of.Kind() == reflect.String || needsFields)
	return d
}

// wordsOf returns the possible words of a plain string whose values are defined in a package above
// its own.
func (f *Format) wordsOf(field string) *Type {
	d := &Type{}
	var names []string
	var what map[string]string
	switch field {
	case "Kind":
		d.Name = "kind-of-lock"
		names, what = runner.Locks()
	case "Workload":
		d.Name = "workload"
		names, what = runner.Workloads()
	default:
		return nil
	}
	for _, n := range names {
		d.Words = append(d.Words, Word{n, sentence(what[n])})
	}
	f.Types = append(f.Types, d)
	return d
}

// named matches the comments of a type's constants to their names in a file: by text or, for
// numbers, by order.
func (f *Format) named(of reflect.Type, names []string) []Word {
	known := f.comments.values[goName(of)]
	if len(known) != len(names) {
		panic(fmt.Sprintf("schema: %d constants %s, %d names", len(known), of, len(names)))
	}
	list := make([]Word, len(names))
	for i, name := range names {
		k := known[i]
		if at := slices.IndexFunc(known, func(k constant) bool { return k.value == name }); at >= 0 {
			k = known[at]
		}
		list[i] = Word{name, f.words(k.text, k.name, name)}
	}
	return list
}

func texts[T fmt.Stringer](all ...T) []string {
	list := make([]string, len(all))
	for i, v := range all {
		list[i] = v.String()
	}
	return list
}

var (
	subject = regexp.MustCompile(`^(?:(?:is|are) |says that |: )`)
	link    = regexp.MustCompile(`\[([A-Za-z]+)\]`)
)

// words turns a comment, which begins with a Go name, into a sentence for readers of files: "TTL is
// the time to live." becomes "The time to live.", and elsewhere the Go name is replaced by the name
// in a file.
func (f *Format) words(comment, goName, name string) string {
	comment = link.ReplaceAllStringFunc(comment, func(l string) string {
		return strings.ReplaceAll(hyphened(strings.Trim(l, "[]")), "-", " ")
	})
	if rest, ok := strings.CutPrefix(comment, goName+" "); ok {
		if cut := subject.ReplaceAllString(rest, ""); cut != rest {
			return sentence(cut)
		}
		return sentence(name + " " + rest)
	}
	if rest, ok := strings.CutPrefix(comment, goName+": "); ok {
		return sentence(rest)
	}
	return sentence(comment)
}

// sentence adds a capital letter and a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// hyphened converts a Go name to its form in a file: "LogNormal" becomes "log-normal".
func hyphened(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
