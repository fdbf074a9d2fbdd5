package jepsen

import (
	"cmp"
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
	taken map[int]int // the unknown steps that the story takes to have happened, with their places
}

// around returns the window of the key at which w ended.
func around(w *sweep, key string, stuck int, rec *recording) *window {
	return &window{w, key, stuck, rec, w.marks[0], w.happened(w.configs[0])}
}

// happened returns the steps of unknown outcome that have taken effect in one config, each
// with the place of the return that it was for.
func (w *sweep) happened(c config) map[int]int {
	places := map[int][]int{}
	for u := c.past; u != nil; u = u.before {
		places[u.kind] = append(places[u.kind], u.at)
	}
	taken := map[int]int{}
	for k, list := range places {
		slices.Reverse(list)
		steps := w.kinds[k].steps
		for j := range min(len(list), len(steps)) { // a lenient sweep may use one twice
			taken[steps[j]] = list[j]
		}
	}
	return taken
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
	var states []string
	for _, state := range w.reached {
		states = append(states, w.model.DescribeState(state))
	}
	slices.Sort(states)
	if more := len(states) - 8; more > 0 {
		states = append(states[:8], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s%s cannot have happened: in every order of what came before, the state while it was open was one of: %s. Before it: %s",
		w.of(), w.tell(w.stuck), strings.Join(states, "; "), w.before())
}

// tell names a step with its process and its lines.
func (w *window) tell(i int) string {
	s := &w.steps[i]
	return fmt.Sprintf("%s (%s)", w.model.DescribeOperation(s.input, known), w.origin(i))
}

// origin says where in the history a step is, and what is taken of it if it is unknown.
func (w *window) origin(i int) string {
	o := w.steps[i].of
	where := fmt.Sprintf("process %d, lines %d to %d", o.process, o.line, o.end)
	switch {
	case o.end == 0:
		where = fmt.Sprintf("process %d, line %d, not completed", o.process, o.line)
	case o.unknown():
		where += ", :info"
	}
	if _, taken := w.taken[i]; taken {
		where += ", taken to have happened"
	}
	return where
}

// before tells what was done last before the step, and which operations of unknown
// outcome that takes: those of one order of the many that there may be.
func (w *window) before() string {
	const lastKnown, lastUnknown = 6, 12
	sure := w.completed()
	sure = sure[max(0, len(sure)-lastKnown):]
	perhaps := w.uncertain(sure)
	list := append(perhaps[max(0, len(perhaps)-lastUnknown):], sure...)
	if len(list) == 0 {
		return "nothing"
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(w.turn(a), w.turn(b)) })
	told := make([]string, len(list))
	for j, i := range list {
		told[j] = w.tell(i)
	}
	return strings.Join(told, ", ")
}

// completed returns the steps of the window that were not unknown, in the order of their calls.
func (w *window) completed() []int {
	var list []int
	for i := range w.steps {
		s := &w.steps[i]
		if i != w.stuck && !s.unknown && s.call < w.steps[w.stuck].ret && s.ret >= w.begin() {
			list = append(list, i)
		}
	}
	return list
}

// uncertain returns the unknown steps that belong into the story: what the given steps
// took, and what could have given what the stuck one needs. That comes last.
func (w *window) uncertain(sure []int) []int {
	of := &w.steps[w.stuck]
	needed, giving := []int{}, []int{}
	for i := range w.steps {
		s := &w.steps[i]
		at, taken := w.taken[i]
		switch {
		case !s.unknown || s.call > of.ret:
		case s.gives == of.needs && (taken || w.matters(s, of.ret)):
			giving = append(giving, i)
		case taken && slices.ContainsFunc(sure, func(j int) bool { return w.steps[j].ret == at }):
			needed = append(needed, i)
		}
	}
	return append(needed, giving...)
}

// turn is the place of a step in the story: what was taken for another comes right
// before it.
func (w *window) turn(i int) int {
	at, taken := w.taken[i]
	if !taken {
		return w.steps[i].call
	}
	j := slices.IndexFunc(w.steps, func(s step) bool { return s.ret == at })
	return w.steps[j].call
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
