package nemesis

import (
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Variants are the kinds: in a file the action is a field with the name of its kind.
func (Fault) Variants() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range kinds {
			if !yield(string(k.zero.Kind()), k.zero) {
				return
			}
		}
	}
}

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
	all.Content = append(action.Content, all.Content...)
	return &all, err
}

// String describes the fault and its times, as in "node 3 crashes, 20ms after client 1
// comes to granted, for 300ms".
func (f Fault) String() string {
	return strings.Join([]string{fmt.Sprint(f.Action), f.Start.describe()}, ", ") + f.describeEnd()
}

// describe says when a fault starts, or at which step it ends.
func (m Trigger) describe() string {
	if m.Timed() {
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
	case e.Timed():
		return fmt.Sprintf(", until %v", e.At)
	default:
		return ", until " + strings.TrimPrefix(e.describe(), "when ")
	}
}
