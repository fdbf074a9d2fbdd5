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

// Format is what scenario files are: the types in them, the scenario first.
type Format struct {
	Types []*Type

	comments comments
	byType   map[reflect.Type]*Type
}

// Type is a sort of value that has a name: a mapping with fields, or words.
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

// Word is one of the words that a value can be.
type Word struct{ Name, Text string }

// Read makes the format out of the types, and of the source below root, for what
// that says of them.
func Read(root string) (*Format, error) {
	c, err := readComments(root, "scenarios", "nemesis", "history", "guard", "env", "checker")
	if err != nil {
		return nil, err
	}
	f := &Format{comments: c, byType: map[reflect.Type]*Type{}}
	scenario := f.typeOf(reflect.TypeFor[scenarios.Scenario]())
	debate, _ := reflect.TypeFor[scenarios.File]().FieldByName("Debate")
	scenario.Fields = append(scenario.Fields, f.field("debate", f.words(c.text["scenarios.File.Debate"], "Debate", "debate"), debate, true))
	return f, nil
}

// typeOf returns the description of a type that has a name, nil if it has none
// that a reader of the format needs.
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

// otherNames are the types that a file calls otherwise than Go.
var otherNames = map[reflect.Type]string{
	reflect.TypeFor[guard.Mode]():           "guard",
	reflect.TypeFor[scenarios.Breakage]():   "damage",
	reflect.TypeFor[scenarios.Divergence](): "difference",
}

// fields adds the fields of a struct. Those of one that is inline stand beside
// the others.
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

// table returns the words that a field of a plain string can be where the
// packages that know them are above its own.
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

// steps are the names of steps, each with what its constant says.
func (f *Format) steps() []Word {
	return f.named("env.Step", texts(env.Steps()...))
}

// named puts the comments of a type's constants beside their names in a file: those
// that are its text or, of numbers, those that come in the same order.
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

// words makes a sentence for a reader of files out of a comment, which begins
// with the name that something has in Go: "TTL is the time to live." becomes "The
// time to live.", and elsewhere the name becomes that in a file.
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

// sentence begins with a capital letter and ends with a full stop.
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

// hyphened is a Go name as a file would have it: "LogNormal" is "log-normal".
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
