package nemesis

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// form is a fault as a file has it: one field for each kind, beside the times.
// It is made of the table of kinds, so that the reader of YAML checks the
// fields of every kind and names the lines of errors.
var form reflect.Type

func init() {
	fields := []reflect.StructField{
		{Name: "Start", Type: reflect.TypeFor[Moment](), Tag: `yaml:"start"`},
		{Name: "End", Type: reflect.TypeFor[*Moment](), Tag: `yaml:"end,omitempty"`},
	}
	for i, k := range kinds {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Action%d", i),
			Type: reflect.TypeOf(k.zero),
			Tag:  reflect.StructTag(fmt.Sprintf(`yaml:"%s,omitempty"`, k.zero.Kind())),
		})
	}
	// The action comes first when a fault is printed.
	fields = append(fields[2:], fields[:2]...)
	form = reflect.StructOf(fields)
}

// UnmarshalYAML reads a fault. It is given the reader's own function instead
// of a node, because that one knows that unknown fields are errors.
func (f *Fault) UnmarshalYAML(read func(any) error) error {
	filled := reflect.New(form)
	if err := read(filled.Interface()); err != nil {
		return unknownKind(err)
	}
	*f = Fault{}
	actions := 0
	for i := range kinds {
		if field := filled.Elem().Field(i); !field.IsNil() {
			f.Action = field.Interface().(Action)
			actions++
		}
	}
	if actions != 1 {
		f.Action = nil // which Validate reports, with the place in the plan
	}
	f.Start = filled.Elem().FieldByName("Start").Interface().(Moment)
	f.End = filled.Elem().FieldByName("End").Interface().(*Moment)
	return nil
}

// MarshalYAML writes what UnmarshalYAML reads.
func (f Fault) MarshalYAML() (any, error) {
	filled := reflect.New(form).Elem()
	for i, k := range kinds {
		if f.Action != nil && f.Action.Kind() == k.zero.Kind() {
			filled.Field(i).Set(reflect.ValueOf(f.Action))
		}
	}
	filled.FieldByName("Start").Set(reflect.ValueOf(f.Start))
	filled.FieldByName("End").Set(reflect.ValueOf(f.End))
	return filled.Interface(), nil
}

// unknownKind puts the kinds that there are in the place of the reader's
// words on a type that has no name.
func unknownKind(err error) error {
	var all *yaml.TypeError
	if !errors.As(err, &all) {
		return err
	}
	names, _ := Kinds()
	tidy := &yaml.TypeError{}
	for _, line := range all.Errors {
		if before, _, unnamed := strings.Cut(line, " not found in type struct {"); unnamed {
			line = fmt.Sprintf("%s is neither start, end nor a kind of fault: there is %v", before, names)
		}
		tidy.Errors = append(tidy.Errors, line)
	}
	return tidy
}
