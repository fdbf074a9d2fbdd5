package jepsen

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/page"
	"github.com/lockstorm/lockstorm/model"
)

// ErrNoPicture means that a finding has nothing to show: it holds, or nothing was judged.
var ErrNoPicture = errors.New("jepsen: there is no violation to draw")

// searchLimit bounds porcupine's search for the longest orders in a picture.
const searchLimit = 5 * time.Second

// The colours of the accused operation and of the nemesis.
const (
	red    = "#ff9c9c"
	orange = "#ffd28a"
)

// Picture writes an HTML page of the window before the violation, or before the place where the
// search gave up: the last operations of the key, from one possible state on, with porcupine's
// analysis and the actions of the nemesis. name is the history's name on the page. A finding
// without a window returns [ErrNoPicture].
func (f Finding) Picture(out io.Writer, name string) error {
	w := f.window
	if w == nil {
		return ErrNoPicture
	}
	from := w.start()
	m, list := w.excerpt(from)
	operations := make([]page.Operation, len(list))
	for i, o := range list {
		operations[i] = page.Operation{Operation: o, Row: fmt.Sprintf("process %d", w.steps[o.Metadata.(int)].of.process)}
	}
	heading := fmt.Sprintf("%s: %s", f.Model, f.Verdict)
	head := page.Head{
		Title: fmt.Sprintf("%s: %s, %s%s", name, f.workload, w.of(), heading),
		Found: []page.Found{{Heading: heading, Story: f.Story}},
		Notes: []string{w.note(from, len(list))},
	}
	marks := append([]page.Mark{w.accused(f.Verdict)}, w.faults()...)
	return page.Search(m, operations, searchLimit).Write(out, head, marks)
}

// note describes what the picture shows.
func (w *window) note(from config, operations int) string {
	return fmt.Sprintf("Shown: %d operations up to line %d. Before them the state is taken to be: %s. “(perhaps)” marks what may have taken effect or not, or had not returned by then.",
		operations, w.steps[w.stuck].of.end, w.model.DescribeState(from.state))
}

// accused marks the operation that the story names.
func (w *window) accused(v checker.Verdict) page.Mark {
	s := &w.steps[w.stuck]
	text := "cannot have happened: "
	if v != checker.Violated {
		text = "undecided from here on: "
	}
	return page.Mark{
		Row: v.String(), From: w.enters(s), To: int64(s.ret),
		Text: text + w.model.DescribeOperation(s.input, known), Details: w.origin(w.stuck), Colour: red, Look: true,
	}
}

// start returns the config with which the picture begins. Among the configs from which the story's
// order can result, it is one from which all operations but the accused one have an order, so that
// the picture accuses the same operation.
func (w *window) start() config {
	past := w.configs[0].past
	for past != nil && past.at >= w.begin() {
		past = past.before
	}
	var list []config
	for _, c := range w.from.configs {
		if c.past == past {
			list = append(list, c)
		}
	}
	if len(list) == 0 { // others have taken its place
		list = w.from.configs
	}
	limit := time.Now().Add(searchLimit)
	for _, c := range list[:len(list)-1] {
		m, ops := w.excerpt(c)
		ops = slices.DeleteFunc(ops, func(o porcupine.Operation) bool { return o.Metadata == w.stuck })
		left := time.Until(limit)
		if left <= 0 {
			break
		}
		if porcupine.CheckOperationsTimeout(m, ops, left) == porcupine.Ok {
			return c
		}
	}
	return list[len(list)-1]
}

// excerpt returns the operations of the window for porcupine, given that c is the config before it.
// They have no order for any c.
func (w *window) excerpt(c config) (porcupine.Model, []porcupine.Operation) {
	m := w.model
	m.Init = func() any { return c.state }
	end := w.steps[w.stuck].ret
	var ops []porcupine.Operation
	for _, i := range w.chosen(c) {
		s := &w.steps[i]
		// A step that returns later may have taken effect already.
		ops = append(ops, porcupine.Operation{
			Input: s.input, Output: model.Outcome{Unknown: s.ret > end},
			Call: w.enters(s), Return: int64(min(s.ret, end+1)), Metadata: i,
		})
	}
	m.DescribeOperationMetadata = func(i any) string { return w.origin(i.(int)) }
	return m, ops
}

// enters is where a step begins in the picture: before the first return of the window, so that a
// step that returns there has a width.
func (w *window) enters(s *step) int64 { return int64(max(s.call, w.begin()-1)) }

// chosen returns the steps of the window that have not taken effect in c.
func (w *window) chosen(c config) []int {
	end := w.steps[w.stuck].ret
	spent := map[int]bool{}
	for k := range w.kinds {
		for _, i := range w.kinds[k].spent(c.used.count(k), w.begin()) {
			spent[i] = true
		}
	}
	var list []int
	for i := range w.steps {
		s := &w.steps[i]
		if s.call < end && s.ret >= w.begin() && !c.done.has(i) && !spent[i] && w.matters(s, w.begin()) {
			list = append(list, i)
		}
	}
	return list
}

// faults returns the actions of the nemesis in the window, and those begun before and not yet
// ended.
func (w *window) faults() []page.Mark {
	begin, end := w.begin()-1, w.steps[w.stuck].ret+1
	var list []page.Mark
	for i, a := range w.rec.acts {
		from, to := a.at, a.at
		if begins(a.name) {
			to = w.rec.ends(i)
		}
		if to < begin || from > end {
			continue
		}
		list = append(list, page.Mark{
			Row: "nemesis", From: int64(max(from, begin)), To: int64(min(to, end)),
			Text: a.name, Details: fmt.Sprintf("line %d: %s", a.line, show(a.value)), Colour: orange,
		})
	}
	return list
}

// begins reports whether an action of the nemesis lasts until another ends it: by convention its
// name is start, or begins with start.
func begins(name string) bool { return strings.HasPrefix(name, "start") }

// ends returns the place where the i-th action ends. The nemesis writes two records for each
// action, an invocation and its completion.
func (r *recording) ends(i int) int {
	stop := "stop" + strings.TrimPrefix(r.acts[i].name, "start")
	later := r.acts[i+1:]
	if j := slices.IndexFunc(later, func(a act) bool { return a.name == stop }); j >= 0 {
		return later[j].at
	}
	return r.length
}

// window is the part of one key's history before the step at which the sweep was stuck or gave up.
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

// happened returns the steps of unknown outcome that have taken effect in a config, each with the
// place of the return that needed it.
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

// of names the key if there are several.
func (w *window) of() string {
	if w.key == "" {
		return ""
	}
	return "key " + w.key + ": "
}

// violation explains why there is no order.
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

// tell names a step with its process and lines.
func (w *window) tell(i int) string {
	s := &w.steps[i]
	return fmt.Sprintf("%s (%s)", w.model.DescribeOperation(s.input, known), w.origin(i))
}

// origin says where in the history a step is, and how an unknown step is assumed to have ended.
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

// before describes the steps before the violation, and the operations of unknown outcome that they
// require: those of one of possibly many orders.
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

// completed returns the steps of the window with a known outcome, in the order of their calls.
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

// uncertain returns the unknown steps of the story: those that the given steps required and, last,
// those that could have produced the state that the stuck step needs.
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

// turn is the position of a step in the story. An unknown step comes right before the step that
// required it.
func (w *window) turn(i int) int {
	at, taken := w.taken[i]
	if !taken {
		return w.steps[i].call
	}
	j := slices.IndexFunc(w.steps, func(s step) bool { return s.ret == at })
	return w.steps[j].call
}

// matters reports whether a step can make a difference from a place on. An unknown step of a dead
// kind does not.
func (w *window) matters(s *step, from int) bool {
	if !s.unknown {
		return true
	}
	k, kept := w.index[s.input]
	return kept && w.kinds[k].died >= from
}

// begin is the place where the window begins.
func (w *window) begin() int { return w.from.at }

// giving describes where the search gave up.
func (w *window) giving() string {
	return fmt.Sprintf("%sundecided after %d of %d operations that count, at line %d, with %d ways in which they can have gone",
		w.of(), w.judged, len(w.steps), w.steps[w.stuck].of.end, len(w.configs))
}

// others counts the other violated keys.
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
