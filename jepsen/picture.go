package jepsen

import (
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/model"
)

// ErrNoPicture says that a finding has nothing to show: it holds, or there was
// nothing to judge.
var ErrNoPicture = errors.New("jepsen: there is no violation to draw")

// searchLimit is the longest that porcupine may look for the longest orders in
// a picture.
const searchLimit = 5 * time.Second

// Picture writes porcupine's visualisation, a page of HTML, of the window
// before the violation, or before the place where the judge gave up: the last
// operations of the key, from one state that it can have been in, and what the
// nemesis did meanwhile. Of a finding without a window it is [ErrNoPicture].
func (f Finding) Picture(out io.Writer) error {
	if f.window == nil {
		return ErrNoPicture
	}
	m, ops := f.window.excerpt(f.window.from.configs[0])
	_, info := porcupine.CheckOperationsVerbose(m, ops, searchLimit)
	info.AddAnnotations(f.window.faults())
	return porcupine.Visualize(m, info, out)
}

// excerpt returns the operations of the window for porcupine, if c is how the
// history went up to it. They have no order, whatever c.
func (w *window) excerpt(c config) (porcupine.Model, []porcupine.Operation) {
	m := w.model
	m.Init = func() any { return c.state }
	end := w.steps[w.stuck].ret
	var ops []porcupine.Operation
	lanes := map[int64]int{}
	for _, i := range w.chosen(c) {
		s := &w.steps[i]
		if _, known := lanes[s.of.process]; !known {
			lanes[s.of.process] = len(lanes)
		}
		// What returns later may have taken effect by now.
		op := porcupine.Operation{
			ClientId: lanes[s.of.process], Input: s.input, Output: model.Outcome{Unknown: s.ret > end},
			Call: int64(max(s.call, w.begin())), Return: int64(min(s.ret, end+1)), Metadata: s.of,
		}
		ops = append(ops, op)
	}
	// Porcupine's script reads states as HTML, and all else that is drawn as text.
	m.DescribeState = func(state any) string { return html.EscapeString(w.model.DescribeState(state)) }
	m.DescribeOperationMetadata = func(of any) string { return of.(*operation).lines() }
	return m, ops
}

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

func (o *operation) lines() string {
	if o.end == 0 {
		return fmt.Sprintf("process %d, line %d, not completed", o.process, o.line)
	}
	return fmt.Sprintf("process %d, lines %d to %d", o.process, o.line, o.end)
}

// faults returns what the nemesis did in the window, and what it had begun
// before and not yet ended.
func (w *window) faults() []porcupine.Annotation {
	begin, end := w.begin(), w.steps[w.stuck].ret+1
	var list []porcupine.Annotation
	for i, a := range w.rec.acts {
		from, to := a.at, a.at
		if begins(a.name) {
			to = w.rec.ends(i)
		}
		if to < begin || from > end {
			continue
		}
		list = append(list, porcupine.Annotation{
			Tag: "nemesis", Start: int64(max(from, begin)), End: int64(min(to, end)),
			Description: a.name, Details: fmt.Sprintf("line %d: %s", a.line, show(a.value)),
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
