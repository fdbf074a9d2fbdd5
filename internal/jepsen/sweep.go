package jepsen

import (
	"cmp"
	"context"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
)

const (
	// maxConfigs bounds the memory of a search.
	maxConfigs = 1 << 18
	// maxMarks is how many returns the window around a violation reaches back.
	maxMarks = 12
)

// sweep decides whether the steps of one key have a legal order. It goes
// through the history once, from event to event, with all configs in which it
// can have come there (Lowe, "Testing for linearizability", 2017: just-in-time
// linearization, which Knossos does too): nothing has to take effect before
// something returns, and when it does, all orders of what is in progress are
// tried that end with it. So its cost grows linearly with the length of the
// history, whether it has quiescent points or not.
type sweep struct {
	stock
	manner
	steps   []step
	open    []int // steps in progress that will return
	marks   []mark
	reached []any // the states that were tried when it got stuck
	judged  int   // steps that have returned
	tried   int   // configs
	rough   bool  // there were too many somewhere
}

// mark is what the configs were before the event at a place.
type mark struct {
	at      int
	configs []config
}

// event is the call or the return of a step.
type event struct {
	at, step int
	ret      bool
}

func newSweep(m porcupine.Model, steps []step, how manner) *sweep {
	return &sweep{stock: newStock(m, steps), steps: steps, manner: how}
}

// events returns what happens in the order of time.
func events(steps []step) []event {
	list := make([]event, 0, 2*len(steps))
	for i, s := range steps {
		list = append(list, event{at: s.call, step: i})
		if !s.unknown {
			list = append(list, event{at: s.ret, step: i, ret: true})
		}
	}
	slices.SortFunc(list, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return list
}

// run goes through the steps. Where it is stuck, or gives up, it returns the
// step that could not return.
func (w *sweep) run(ctx context.Context) (checker.Verdict, int) {
	for _, e := range events(w.steps) {
		s := &w.steps[e.step]
		switch {
		case e.ret:
		case s.unknown:
			w.call(e.step, s)
			continue
		default:
			w.open = append(w.open, e.step)
			continue
		}
		w.mark(e.at)
		w.now = e.at
		next, decided := w.complete(ctx, e.step)
		if !decided {
			return checker.Unknown, e.step
		}
		if len(next) == 0 {
			return checker.Violated, e.step
		}
		w.configs = w.few(next)
		w.open = slices.DeleteFunc(w.open, func(i int) bool { return i == e.step })
		w.settle(e.at)
		w.judged++
	}
	return checker.Holds, -1
}

// few returns as many configs as the sweep goes on with: those that have used
// least.
func (w *sweep) few(list []config) []config {
	if w.lenient || len(list) <= w.beam {
		return list
	}
	w.rough = true
	slices.SortStableFunc(list, func(a, b config) int { return cmp.Compare(len(a.used), len(b.used)) })
	return list[:w.beam]
}

func (w *sweep) mark(at int) {
	if len(w.marks) == maxMarks {
		w.marks = slices.Delete(w.marks, 0, 1)
	}
	w.marks = append(w.marks, mark{at, w.configs})
}
