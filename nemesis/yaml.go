package nemesis

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/internal/form"
)

// MarshalYAML writes the action, and then the times.
func (f Fault) MarshalYAML() (any, error) {
	type times struct {
		Start Trigger  `yaml:"start"`
		End   *Trigger `yaml:"end,omitempty"`
	}
	var action, all yaml.Node
	if err := all.Encode(times{f.Start, f.End}); err != nil || f.Action == nil {
		return &all, err
	}
	err := action.Encode(map[Kind]Action{f.Action.Kind(): f.Action})
	if err == nil {
		form.PutWords(action.Content[1], reflect.TypeOf(f.Action).Elem())
	}
	all.Content = append(action.Content, all.Content...)
	return &all, err
}

// String describes the fault and its times, as in "node 3 crashes, 20ms after client 1
// comes to granted, for 300ms".
func (f Fault) String() string {
	return strings.Join([]string{fmt.Sprint(f.Action), f.Start.describe()}, ", ") + f.describeEnd()
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
	case e.Timed():
		return fmt.Sprintf(", until %v", e.At)
	default:
		return ", until " + strings.TrimPrefix(e.describe(), "when ")
	}
}
