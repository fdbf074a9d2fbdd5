package jepsen

import (
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

// ErrNoPicture says that a finding has nothing to show: it holds, or there was
// nothing to judge.
var ErrNoPicture = errors.New("jepsen: there is no violation to draw")

// searchLimit is the longest that porcupine may look for the longest orders in
// a picture.
const searchLimit = 5 * time.Second

// The colours: what is accused, and what the nemesis did.
const (
	red    = "#ff9c9c"
	orange = "#ffd28a"
)

// Picture writes a page of HTML of the window before the violation, or before the
// place where the judge gave up: the last operations of the key, from one state that
// it can have been in, what porcupine makes of them, and what the nemesis did
// meanwhile. The history is called name there. Of a finding without a window it is
// [ErrNoPicture].
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

// note says what is shown.
func (w *window) note(from config, operations int) string {
	return fmt.Sprintf("Shown: %d operations up to line %d. Before them the state is taken to be: %s. “(perhaps)” marks what may have taken effect or not, or had not returned by then.",
		operations, w.steps[w.stuck].of.end, w.model.DescribeState(from.state))
}

// accused marks the operation that the story is about.
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

// start returns the config that the picture begins with: of those from which the story's
// order can have come, one from which all but the accused operation has an order, so that
// the picture accuses the same one.
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

// excerpt returns the operations of the window for porcupine, if c is how the
// history went up to it. They have no order, whatever c.
func (w *window) excerpt(c config) (porcupine.Model, []porcupine.Operation) {
	m := w.model
	m.Init = func() any { return c.state }
	end := w.steps[w.stuck].ret
	var ops []porcupine.Operation
	for _, i := range w.chosen(c) {
		s := &w.steps[i]
		// What returns later may have taken effect by now.
		ops = append(ops, porcupine.Operation{
			Input: s.input, Output: model.Outcome{Unknown: s.ret > end},
			Call: w.enters(s), Return: int64(min(s.ret, end+1)), Metadata: i,
		})
	}
	m.DescribeOperationMetadata = func(i any) string { return w.origin(i.(int)) }
	return m, ops
}

// enters is where a step begins in the picture: before the return that the window begins
// with, so that what returns there has a width.
func (w *window) enters(s *step) int64 { return int64(max(s.call, w.begin()-1)) }

// chosen returns the steps of the window that c has not seen take effect.
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

// faults returns what the nemesis did in the window, and what it had begun
// before and not yet ended.
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

// begins reports whether an act of the nemesis lasts until another ends it: by
// custom it is called start, or start and what.
func begins(name string) bool { return strings.HasPrefix(name, "start") }

// ends returns the place where the act that begins i-th ends. The nemesis
// writes two records for each act, an invocation and its completion.
func (r *recording) ends(i int) int {
	stop := "stop" + strings.TrimPrefix(r.acts[i].name, "start")
	later := r.acts[i+1:]
	if j := slices.IndexFunc(later, func(a act) bool { return a.name == stop }); j >= 0 {
		return later[j].at
	}
	return r.length
}
