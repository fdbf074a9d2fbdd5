package jepsen

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/model"
)

// maxSteps bounds the operations on one key, because porcupine's memory grows with their square.
const maxSteps = 50_000

// search is a search for an order of the operations on one key.
type search struct {
	model porcupine.Model
	steps []porcupine.Operation
}

// order is the end of an order of steps: the state after the step, and the order before it. It is
// the state of the model while porcupine searches, so that the order that it finds is known.
type order struct {
	state  any
	at     int // of the step, in the steps of the search
	before *order
}

// decide searches until the context is done. order is the end of an order of all steps if there is
// one.
func decide(ctx context.Context, s search) (checker.Verdict, *order) {
	if len(s.steps) > maxSteps {
		return checker.Unknown, nil
	}
	type input struct {
		at    int
		input any
	}
	ops := slices.Clone(s.steps)
	for i := range ops {
		ops[i].Input = input{i, ops[i].Input}
	}
	last := &order{state: s.model.Init()}
	seed := maphash.MakeSeed()
	m := porcupine.Model{
		Init: func() any { return last },
		Step: func(state, in, out any) (bool, any) {
			if ctx.Err() != nil {
				return false, state // then nothing has an order, and the search ends soon
			}
			o, i := state.(*order), in.(input)
			legal, next := s.model.Step(o.state, i.input, out)
			if legal {
				o = &order{next, i.at, o}
				last = o // if it completes an order, the search ends
			}
			return legal, o
		},
		Equal: func(a, b any) bool { return a.(*order).state == b.(*order).state },
		Hash:  func(state any) uint64 { return maphash.Comparable(seed, state.(*order).state) },
	}
	switch found := porcupine.CheckOperations(m, ops); {
	case found:
		return checker.Holds, last
	case ctx.Err() != nil:
		return checker.Unknown, nil
	}
	return checker.Violated, nil
}

// list returns the steps of the order, the first one first, and the state before each.
func (o *order) list() (at []int, before []any) {
	for ; o.before != nil; o = o.before {
		at, before = append(at, o.at), append(before, o.before.state)
	}
	slices.Reverse(at)
	slices.Reverse(before)
	return at, before
}

// until returns the part of the search up to an instant: steps that have not returned by then may
// have taken effect or not.
func (s search) until(end int64) search {
	var steps []porcupine.Operation
	for _, o := range s.steps {
		if o.Call > end {
			continue
		}
		if o.Return > end {
			o.Return, o.Output = math.MaxInt, model.Outcome{Unknown: true}
		}
		steps = append(steps, o)
	}
	return search{s.model, steps}
}

// window is the place where a search has no order: the steps that returned before stuck have one,
// and with stuck they have none.
type window struct {
	search // up to the return of stuck, which is its last step
	stuck  porcupine.Operation
	past   []int // an order of all other steps
	before []any // the state before each step of past
	key    string
}

// narrow returns the place of the violation of s, or nil if the context is done before it is found.
func narrow(ctx context.Context, s search, key string) *window {
	var returns []porcupine.Operation
	for _, o := range s.steps {
		if o.Return != never {
			returns = append(returns, o)
		}
	}
	slices.SortFunc(returns, func(a, b porcupine.Operation) int { return int(a.Return - b.Return) })
	first := sort.Search(len(returns), func(i int) bool {
		verdict, _ := decide(ctx, s.until(returns[i].Return))
		return verdict != checker.Holds
	})
	if first == len(returns) || ctx.Err() != nil {
		return nil
	}
	w := &window{stuck: returns[first], search: s.until(returns[first].Return), key: key}
	at := slices.IndexFunc(w.steps, func(o porcupine.Operation) bool { return o.Call == w.stuck.Call })
	w.steps = append(slices.Delete(w.steps, at, at+1), w.stuck)
	_, past := decide(ctx, search{w.model, w.steps[:len(w.steps)-1]})
	if past == nil {
		return nil
	}
	w.past, w.before = past.list()
	return w
}

// state returns the state after an order of all steps that certainly took effect before stuck, and
// the last of these steps.
func (w *window) state() (state any, last []porcupine.Operation) {
	state = w.model.Init()
	for i, at := range w.past {
		if o := w.steps[at]; o.Return < w.stuck.Return {
			last = append(last, o)
			_, state = w.model.Step(w.before[i], o.Input, o.Output)
		}
	}
	return state, last[max(0, len(last)-3):]
}

// excerptSteps is how many steps before a violation an excerpt has at most.
const excerptSteps = 40

// Excerpt returns the last operations before a violation, and the one at it, for porcupine, with the model
// from the state before them. They have no order: with one, the whole would have one too, since no step of
// the excerpt must come before one that is left out. Without a violation to show there are none.
func (f Finding) Excerpt() (m porcupine.Model, operations []porcupine.Operation) {
	w := f.window
	if w == nil {
		return m, nil
	}
	m, cut := w.model, max(0, len(w.past)-excerptSteps)
	if cut > 0 {
		state := w.before[cut]
		m.Init = func() any { return state }
	}
	for _, at := range w.past[cut:] {
		o := w.steps[at]
		o.Return = min(o.Return, w.stuck.Return+1)
		operations = append(operations, o)
	}
	return m, append(operations, w.stuck)
}
