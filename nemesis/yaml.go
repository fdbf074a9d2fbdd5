package nemesis

import (
	"fmt"
	"reflect"
)

// form is what [FaultForm] returns. It is made of the table of kinds.
var form reflect.Type

func init() {
	fields := []reflect.StructField{
		{Name: "Start", Type: reflect.TypeFor[Trigger](), Tag: `yaml:"start"`},
		{Name: "End", Type: reflect.TypeFor[*Trigger](), Tag: `yaml:"end,omitempty"`},
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

// FaultForm is a struct with the fields that a fault has in a file: one for each
// kind, beside the times.
func FaultForm() reflect.Type { return form }

// UnmarshalYAML reads a fault. It is given the reader's own function instead
// of a node, because that one knows that unknown fields are errors.
func (f *Fault) UnmarshalYAML(read func(any) error) error {
	filled := reflect.New(form)
	if err := read(filled.Interface()); err != nil {
		return err
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
	f.Start = filled.Elem().FieldByName("Start").Interface().(Trigger)
	f.End = filled.Elem().FieldByName("End").Interface().(*Trigger)
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
