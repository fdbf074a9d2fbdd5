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
	Kind   nemesis.Kind // of an action: the kind of fault
}

// Field is one field of a mapping.
type Field struct {
	Name     string
	Text     string
	Required bool
	Limit    *nemesis.Limit
	Of       reflect.Type
	Type     *Type // of Of, or of its items; nil: it has no name
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
	scenario := f.typeOf(reflect.TypeFor[scenarios.Scenario]())
	for _, block := range []string{"Debate", "Published"} {
		field, _ := reflect.TypeFor[scenarios.File]().FieldByName(block)
		name := strings.ToLower(block)
		scenario.Fields = append(scenario.Fields, f.field(name, f.words(c.text["scenarios.File."+block], block, name), field, true))
	}
	return f, nil
}

// typeOf returns the description of a type, or nil if it has no name of interest to readers.
func (f *Format) typeOf(t reflect.Type) *Type {
	if known, ok := f.byType[t]; ok {
		return known
	}
	name := path.Base(t.PkgPath()) + "." + t.Name()
	d := &Type{Name: hyphened(t.Name()), Text: f.words(f.comments.text[name], t.Name(), hyphened(t.Name()))}
	if name, ok := otherNames[t]; ok {
		d.Name = name
	}
	switch {
	case t == reflect.TypeFor[time.Duration]() || t.PkgPath() == "" || t == reflect.TypeFor[nemesis.Plan]() || t == reflect.TypeFor[nemesis.Kind]():
		return nil
	case t == reflect.TypeFor[checker.Property]():
		d.Words = f.named(name, texts(checker.Properties()...))
	case t == reflect.TypeFor[nemesis.StepName]():
		d.Words = f.steps()
	case t == reflect.TypeFor[checker.Verdict]():
		d.Words = f.named(name, texts(checker.Holds, checker.Violated, checker.Unknown, checker.NotApplicable))
	case t.Kind() == reflect.String:
		for _, k := range f.comments.values[name] {
			if k.value != "" {
				d.Words = append(d.Words, Word{k.value, f.words(k.text, k.name, k.value)})
			}
		}
	}
	f.byType[t] = d
	f.Types = append(f.Types, d)
	switch {
	case t == reflect.TypeFor[nemesis.Fault]():
		f.faultFields(d)
	case t == reflect.TypeFor[scenarios.Expectations]():
		verdict := reflect.TypeFor[checker.Verdict]()
		for _, w := range f.named("checker.Property", texts(checker.Properties()...)) {
			d.Fields = append(d.Fields, Field{Name: w.Name, Text: w.Text, Of: verdict, Type: f.typeOf(verdict)})
		}
	case t == reflect.TypeFor[nemesis.Weights]():
		f.weights(d)
	case t.Kind() == reflect.Struct:
		f.fields(d, t)
	}
	return d
}

// otherNames are the types whose name in a file differs from that in Go.
var otherNames = map[reflect.Type]string{
	reflect.TypeFor[guard.Mode]():           "guard",
	reflect.TypeFor[scenarios.Breakage]():   "damage",
	reflect.TypeFor[scenarios.Divergence](): "difference",
}

// fields adds the fields of a struct, including those of inline structs.
func (f *Format) fields(d *Type, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			f.fields(d, field.Type)
		case name != "" && name != "-":
			text := f.comments.text[path.Base(t.PkgPath())+"."+t.Name()+"."+field.Name]
			d.Fields = append(d.Fields, f.field(name, f.words(text, field.Name, name), field, strings.Contains(options, "omitempty")))
		}
	}
}

func (f *Format) field(name, text string, from reflect.StructField, optional bool) Field {
	of := from.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	d := Field{Name: name, Text: text, Of: of, Limit: nemesis.LimitOf(from), List: of.Kind() == reflect.Slice}
	item := of
	if d.List {
		item = of.Elem()
	}
	d.Type = f.typeOf(item)
	if from.Type == reflect.TypeFor[string]() {
		d.Type = f.table(from.Name)
	}
	if d.Text == "" && d.Type != nil {
		d.Text = d.Type.Text
	}
	d.Required = !optional && (d.Limit.Required() || of.Kind() == reflect.String || d.needsFields())
	return d
}

// needsFields reports whether a mapping cannot be empty.
func (d Field) needsFields() bool {
	return !d.List && d.Type != nil && slices.ContainsFunc(d.Type.Fields, func(f Field) bool { return f.Required })
}

// table returns the possible words of a plain string whose values are defined in a package above
// its own.
func (f *Format) table(field string) *Type {
	var names []string
	var what map[string]string
	switch field {
	case "Kind":
		names, what = runner.Locks()
	case "Workload":
		names, what = runner.Workloads()
	default:
		return nil
	}
	name := map[string]string{"Kind": "kind-of-lock", "Workload": "workload"}[field]
	d := &Type{Name: name}
	for _, n := range names {
		d.Words = append(d.Words, Word{n, sentence(what[n])})
	}
	f.Types = append(f.Types, d)
	return d
}

// faultFields adds the kinds of faults, and the times.
func (f *Format) faultFields(d *Type) {
	_, what := nemesis.Kinds()
	for _, a := range nemesis.Actions() {
		t := reflect.TypeOf(a).Elem()
		of := f.typeOf(t)
		of.Name, of.Kind = string(a.Kind()), a.Kind()
		d.Fields = append(d.Fields, Field{Name: string(a.Kind()), Text: sentence(what[a.Kind()]), Of: t, Type: of})
	}
	f.fields(d, reflect.TypeFor[nemesis.Fault]())
}

// weights adds a field for each kind of fault.
func (f *Format) weights(d *Type) {
	names, _ := nemesis.Kinds()
	for _, k := range append([]nemesis.Kind{nemesis.AllKinds}, names...) {
		limit := &nemesis.Limit{Min: "0", Max: fmt.Sprint(nemesis.MaxWeight)}
		d.Fields = append(d.Fields, Field{Name: string(k), Limit: limit, Of: reflect.TypeFor[int]()})
	}
}

// steps are the names of steps, with the comments of their constants.
func (f *Format) steps() []Word {
	return f.named("env.Step", texts(env.Steps()...))
}

// named matches the comments of a type's constants to their names in a file: by text or, for
// numbers, by order.
func (f *Format) named(of string, names []string) []Word {
	known := f.comments.values[of]
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
