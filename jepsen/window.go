package jepsen

import (
	"fmt"
	"slices"
	"strings"
)

// window is the piece of one key's history before the step at which the sweep
// was stuck, or gave up.
type window struct {
	*sweep
	key   string
	stuck int
	rec   *recording
	from  mark
}

// around returns the window of the key at which w ended.
func around(w *sweep, key string, stuck int, rec *recording) *window {
	return &window{w, key, stuck, rec, w.marks[0]}
}

// of says the key, where there are several.
func (w *window) of() string {
	if w.key == "" {
		return ""
	}
	return "key " + w.key + ": "
}

// violation tells in words why there is no order.
func (w *window) violation() string {
	s := &w.steps[w.stuck]
	var states []string
	for _, state := range w.reached {
		states = append(states, w.model.DescribeState(state))
	}
	slices.Sort(states)
	if more := len(states) - 8; more > 0 {
		states = append(states[:8], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s%s cannot have happened: in every order of what came before, the state while it was open was one of: %s. Before it: %s",
		w.of(), w.tell(s), strings.Join(states, "; "), w.before())
}

// tell names a step with its process and its lines.
func (w *window) tell(s *step) string {
	what := w.model.DescribeOperation(s.input, known)
	if s.of.end == 0 {
		return fmt.Sprintf("%s (process %d, line %d, not completed)", what, s.of.process, s.of.line)
	}
	mark := ""
	if s.unknown {
		mark = ", :info"
	}
	return fmt.Sprintf("%s (process %d, lines %d to %d%s)", what, s.of.process, s.of.line, s.of.end, mark)
}

// before tells what was done last before the step.
func (w *window) before() string {
	const last = 6
	var list []string
	at := w.steps[w.stuck].ret
	for i := range w.steps {
		s := &w.steps[i]
		if i != w.stuck && s.call < at && (s.ret >= w.begin() || s.unknown) && w.matters(s, at) {
			list = append(list, w.tell(s))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list[max(0, len(list)-last):], ", ")
}

// matters reports whether a step can make a difference from a place on: an
// unknown one whose kind is of no use does not.
func (w *window) matters(s *step, from int) bool {
	if !s.unknown {
		return true
	}
	k, kept := w.index[s.input]
	return kept && w.kinds[k].died >= from
}

// begin is the place where the window begins.
func (w *window) begin() int { return w.from.at }

// giving tells where the judge gave up.
func (w *window) giving() string {
	return fmt.Sprintf("%sundecided after %d of %d operations that count, at line %d, with %d ways in which they can have gone",
		w.of(), w.judged, len(w.steps), w.steps[w.stuck].of.end, len(w.configs))
}

// others counts the other keys that are violated.
func (t *trial) others() string {
	if len(t.violated) == 1 {
		return ""
	}
	return fmt.Sprintf("; so are %d more of %d keys", len(t.violated)-1, len(t.parts))
}

// reach says how many keys are decided.
func (t *trial) reach() string {
	return fmt.Sprintf("; %d of %d keys are decided", t.holds+len(t.violated), len(t.parts))
}
