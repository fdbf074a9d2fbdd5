package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// HistoryTables generates the tables of docs/history-format.md, by name, from the types of package
// history and their comments in the source below root.
func HistoryTables(root string) (map[string]string, error) {
	c, err := readComments(root, "history")
	if err != nil {
		return nil, err
	}
	f := &Format{comments: c}
	header := history.Header{Format: history.Format, Version: history.Version, Nodes: 1, Clients: 1}
	return map[string]string{
		"header":   f.fieldsOfLine(reflect.TypeFor[history.Header](), readable(header, history.Event{Kind: history.End}, 0)),
		"bounds":   f.fieldsOfLine(reflect.TypeFor[history.Bounds](), func(string) bool { return true }),
		"event":    f.fieldsOfLine(reflect.TypeFor[history.Event](), readable(header, history.Event{Kind: history.End}, 1)),
		"kinds":    f.kinds(),
		"outcomes": f.outcomes(),
	}, nil
}

// fieldsOfLine returns a table of a type's fields by their JSON tags. Some can be omitted.
func (f *Format) fieldsOfLine(t reflect.Type, without func(name string) bool) string {
	var b strings.Builder
	b.WriteString("| field | value | meaning |\n|---|---|---|\n")
	for i := range t.NumField() {
		field := t.Field(i)
		name := nameInLine(field)
		text := f.words(constants.Replace(f.comments.text["history."+t.Name()+"."+field.Name]), field.Name, name)
		value := valueInLine(field.Type)
		if !without(name) {
			value += ", **required**"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, value, cell(inLine(text, t)))
	}
	return b.String()
}

// readable reports whether a line of a history is accepted without a field.
func readable(h history.Header, e history.Event, line int) func(name string) bool {
	return func(name string) bool {
		lines := []any{h, e}
		var text []byte
		for i, value := range lines {
			made, err := json.Marshal(value)
			if err != nil {
				panic(err) // of values that we have made
			}
			if i == line {
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(made, &fields); err != nil {
					panic(err)
				}
				delete(fields, name)
				if made, err = json.Marshal(fields); err != nil {
					panic(err)
				}
			}
			text = append(append(text, made...), '\n')
		}
		r, err := history.NewReader(bytes.NewReader(text))
		if err != nil {
			return false
		}
		_, err = r.Next()
		_ = r.Close()
		return err == nil
	}
}

func valueInLine(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[history.Kind]():
		return "[kind](#the-kinds-of-events)"
	case t == reflect.TypeFor[history.Outcome]():
		return "[outcome](#outcomes)"
	case t == reflect.TypeFor[history.Bounds]():
		return "[bounds](#bounds)"
	case t.Kind() == reflect.Int64 && t.PkgPath() != "":
		return "nanoseconds"
	case t.Kind() == reflect.Uint64:
		return "whole number, not negative"
	case t.Kind() == reflect.Slice:
		return "list of whole numbers"
	}
	return sortOf(t, nil)
}

// kinds returns a table of the kinds of events. Kinds with a common comment share a row.
func (f *Format) kinds() string {
	var b strings.Builder
	b.WriteString("| kind | what it tells | fields |\n|---|---|---|\n")
	known := f.comments.values["history.Kind"]
	for i := 0; i < len(known); {
		names := []string{"`" + history.Kind(i+1).String() + "`"}
		comment, first := known[i].text, known[i].name
		for i++; i < len(known) && known[i].text == ""; i++ {
			names = append(names, "`"+history.Kind(i+1).String()+"`")
		}
		text := onlyFields.ReplaceAllString(constants.Replace(comment), "")
		text = strings.Replace(subjects.ReplaceAllString(text, ""), first+" ", names[0]+" ", 1)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names, " "), cell(inLine(outcomesIn(sentence(text)), event)), strings.Join(fieldsIn(comment), " "))
	}
	return b.String()
}

func (f *Format) outcomes() string {
	var b strings.Builder
	b.WriteString("| outcome | meaning |\n|---|---|\n")
	for i, o := range f.comments.values["history.Outcome"] {
		fmt.Fprintf(&b, "| `%s` | %s |\n", history.Outcome(i+1), sentence(o.text))
	}
	return b.String()
}

var event = reflect.TypeFor[history.Event]()

var (
	oneField   = fieldNames(event).String()
	onlyFields = regexp.MustCompile(` \(` + oneField + `(?:, ` + oneField + `)*\)`)
	outcome    = regexp.MustCompile(`\b(?:OK|Declined|Unknown)\b`)
	subjects   = regexp.MustCompile(`^[A-Z][A-Za-z, ]*: `)
)

// fieldNames finds the Go names of a type's fields, except those that every event has.
func fieldNames(t reflect.Type) *regexp.Regexp {
	var names []string
	for i := range t.NumField() {
		if name := t.Field(i).Name; name != "Time" && name != "Kind" {
			names = append(names, name)
		}
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(names, "|") + `)\b`)
}

// fieldsIn returns the fields of an event that a comment names, in order, as they are named on a
// line.
func fieldsIn(comment string) (names []string) {
	named := fieldNames(event).FindAllString(comment, -1)
	for i := range event.NumField() {
		if f := event.Field(i); slices.Contains(named, f.Name) {
			names = append(names, code(nameInLine(f)))
		}
	}
	return names
}

func nameInLine(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// inLine replaces the Go names of a type's fields in a comment by those on a line.
func inLine(text string, t reflect.Type) string {
	return fieldNames(t).ReplaceAllStringFunc(text, func(goName string) string {
		f, _ := t.FieldByName(goName)
		return code(nameInLine(f))
	})
}

func outcomesIn(text string) string {
	return outcome.ReplaceAllStringFunc(text, func(name string) string { return code(strings.ToLower(name)) })
}

// constants are the constants that comments name, with their values.
var constants = strings.NewReplacer(
	"[MaxNodes]", fmt.Sprint(history.MaxNodes), "[MaxClients]", fmt.Sprint(history.MaxClients), "[MaxVotes]", fmt.Sprint(history.MaxVotes),
	"[NoExpiry]", code(history.NoExpiry), "[Deleted]", code(history.Deleted), "[Overwritten]", code(history.Overwritten), "[Expired]", code(history.Expired), "[Evicted]", code(history.Evicted),
	"[Forgotten]", code(history.Forgotten), "[RolledBack]", code(history.RolledBack), "[SessionOver]", code(history.SessionOver), "[Swept]", code(history.Swept),
	"[BeforeSend]", code(history.BeforeSend), "[Queued]", code(history.Queued), "[Woken]", code(history.Woken),
)

func code(text string) string { return "`" + text + "`" }
