package nemesis

import (
	"fmt"
	"reflect"
	"strings"
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

// String describes the fault and its times, as in "node 3 crashes, 20ms after client 1
// comes to granted, for 300ms".
func (f Fault) String() string {
	return strings.Join([]string{fmt.Sprint(f.Action), f.Start.describe()}, ", ") + f.describeEnd()
}

// describe says when a fault starts, or at which step it ends.
func (m Trigger) describe() string {
	if m.timed() {
		if m.At == 0 {
			return "from the start"
		}
		return fmt.Sprintf("at %v", m.At)
	}
	step := string(m.Step)
	if m.K > 0 {
		step += fmt.Sprintf(" %d", m.K)
	}
	text := fmt.Sprintf("when client %d comes to %s", m.Client, step)
	if m.Plus > 0 {
		text = fmt.Sprintf("%v after client %d comes to %s", m.Plus, m.Client, step)
	}
	if m.Count > 1 {
		text += " for the " + ordinal(m.Count) + " time"
	}
	return text
}

// ordinal prints 2nd, 3rd, 4th, …
func ordinal(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// describeEnd completes the sentence with the fault's end, if the plan names one.
func (f Fault) describeEnd() string {
	switch e := f.End; {
	case e == nil && f.Momentary():
		return ""
	case e == nil && (f.Action.ending().automatic != "" || f.Action.ending().after > 0):
		return ""
	case e == nil:
		return ", for good"
	case e.After != nil && *e.After == 0:
		return ", and that is over at once"
	case e.After != nil:
		return fmt.Sprintf(", for %v", *e.After)
	case e.timed():
		return fmt.Sprintf(", until %v", e.At)
	default:
		return ", until " + strings.TrimPrefix(e.describe(), "when ")
	}
}
