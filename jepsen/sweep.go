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
	// beam is how many configs a first, hasty sweep goes on with: those that
	// have used least.
	beam = 16
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
//
// Operations of unknown outcome are in progress for ever, and would double the
// cost each. Those that do the same are one kind, of which a config only counts
// how many it has used; a config is superfluous if another has used less; and a
// kind is forgotten once no operation is to come that needs what it gives.
type sweep struct {
	model   porcupine.Model
	steps   []step
	need    map[string]int // the last return of a step that needs a state
	kinds   []kind
	index   map[any]int // of kinds, by their inputs
	open    []int       // steps in progress that will return
	live    []int       // kinds that are still of use
	configs []config
	marks   []mark
	reached []any // the states that were tried when it got stuck
	judged  int   // steps that have returned
	tried   int   // configs
	width   int   // how many configs it goes on with; 0: all
	narrow  bool  // it has left some behind
}

// decide sweeps hastily first, and thoroughly if that finds no order: to find
// one of many orders is cheap, to be sure that there is none need not be.
func decide(ctx context.Context, m porcupine.Model, steps []step, width int) (*sweep, checker.Verdict, int) {
	w := newSweep(m, steps)
	w.width = width
	verdict, stuck := w.run(ctx)
	switch {
	case verdict == checker.Holds || !w.narrow:
		return w, verdict, stuck
	case ctx.Err() != nil:
		return w, checker.Unknown, stuck
	}
	w = newSweep(m, steps)
	verdict, stuck = w.run(ctx)
	return w, verdict, stuck
}

// kind is all operations of unknown outcome that do the same.
type kind struct {
	input any
	gives string
	steps []int // those that have been called
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

func newSweep(m porcupine.Model, steps []step) *sweep {
	return &sweep{
		model: m, steps: steps, need: needs(steps), index: map[any]int{},
		configs: []config{{place: place{state: m.Init()}}},
	}
}

// needs returns for each state the last return of a step that has to find it.
// What is unknown needs a state for as long as somebody needs what it gives.
func needs(steps []step) map[string]int {
	need := map[string]int{}
	for _, s := range steps {
		if !s.unknown && s.needs != "" {
			need[s.needs] = max(need[s.needs], s.ret)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, s := range steps {
			if s.unknown && s.needs != "" && need[s.gives] > need[s.needs] {
				need[s.needs] = need[s.gives]
				grown = true
			}
		}
	}
	return need
}

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
		if !e.ret {
			w.call(e.step)
			continue
		}
		w.forget(e.at)
		w.mark(e.at)
		next, decided := w.complete(ctx, e.step)
		if !decided {
			return checker.Unknown, e.step
		}
		if len(next) == 0 {
			return checker.Violated, e.step
		}
		w.configs = w.least(next)
		w.open = slices.DeleteFunc(w.open, func(i int) bool { return i == e.step })
		w.judged++
	}
	return checker.Holds, -1
}

// least returns as many configs as the sweep goes on with.
func (w *sweep) least(list []config) []config {
	if w.width == 0 || len(list) <= w.width {
		return list
	}
	w.narrow = true
	slices.SortStableFunc(list, func(a, b config) int { return cmp.Compare(len(a.used), len(b.used)) })
	return list[:w.width]
}

func (w *sweep) call(i int) {
	s := &w.steps[i]
	if !s.unknown {
		w.open = append(w.open, i)
		return
	}
	if w.need[s.gives] < s.call {
		return
	}
	k, known := w.index[s.input]
	if !known {
		k = len(w.kinds)
		w.index[s.input] = k
		w.kinds = append(w.kinds, kind{input: s.input, gives: s.gives})
		w.live = append(w.live, k)
	}
	w.kinds[k].steps = append(w.kinds[k].steps, i)
}

// forget drops the kinds that nothing needs from now on.
func (w *sweep) forget(now int) {
	var dead []int
	w.live = slices.DeleteFunc(w.live, func(k int) bool {
		if w.need[w.kinds[k].gives] >= now {
			return false
		}
		dead = append(dead, k)
		return true
	})
	if len(dead) == 0 {
		return
	}
	left := newFrontier()
	for _, c := range w.configs {
		for _, k := range dead {
			c.used = c.used.without(k)
		}
		left.add(c)
	}
	w.configs = left.configs()
}

func (w *sweep) mark(at int) {
	if len(w.marks) == maxMarks {
		w.marks = slices.Delete(w.marks, 0, 1)
	}
	w.marks = append(w.marks, mark{at, w.configs})
}

func (w *sweep) step(state any, input any) (any, bool) {
	legal, next := w.model.Step(state, input, known)
	return next, legal
}

// search is how all configs are found in which a step has returned.
type search struct {
	*sweep
	of      int // the step
	seen    *frontier
	next    *frontier
	waiting [][]config // by how much they have used: who has used less goes first
}

// complete returns the configs in which a step has taken effect, and false if
// it cannot find them all.
func (w *sweep) complete(ctx context.Context, of int) ([]config, bool) {
	s := search{sweep: w, of: of, seen: newFrontier(), next: newFrontier()}
	for _, c := range w.configs {
		if c.done.has(of) {
			c.done = c.done.without(of)
			s.next.add(c)
			continue
		}
		s.push(c)
	}
	for used := 0; used < len(s.waiting) && !s.enough(used); used++ {
		for len(s.waiting[used]) > 0 {
			last := len(s.waiting[used]) - 1
			c := s.waiting[used][last]
			s.waiting[used] = s.waiting[used][:last]
			if w.tried%256 == 0 && ctx.Err() != nil || len(s.seen.order) > maxConfigs {
				return nil, false
			}
			w.tried++
			s.expand(c)
		}
	}
	next := s.next.configs()
	if len(next) == 0 {
		w.reached = s.states()
	}
	return next, true
}

// enough reports whether a hasty sweep has found what it goes on with: an order
// that used as little as any.
func (s *search) enough(used int) bool {
	if s.width == 0 || len(s.next.order) == 0 || used <= s.next.order[0].used.len()+1 {
		return false
	}
	s.narrow = true
	return true
}

// push puts a config on the list, unless it is superfluous.
func (s *search) push(c config) {
	c = s.settle(c)
	if !s.seen.add(c) {
		return
	}
	for len(s.waiting) <= c.used.len() {
		s.waiting = append(s.waiting, nil)
	}
	s.waiting[c.used.len()] = append(s.waiting[c.used.len()], c)
}

// settle lets everything take effect that only looks: there is no better time
// for it.
func (s *search) settle(c config) config {
	for _, i := range s.open {
		if i == s.of || !s.steps[i].looks() || c.done.has(i) {
			continue
		}
		if _, legal := s.step(c.state, s.steps[i].input); legal {
			c.done = c.done.with(i)
		}
	}
	return c
}

// expand tries what can take effect next.
func (s *search) expand(c config) {
	if next, legal := s.step(c.state, s.steps[s.of].input); legal {
		s.next.add(config{place{next, c.done}, c.used})
		if s.steps[s.of].looks() {
			return // whatever else may follow can follow later
		}
	}
	for _, i := range s.open {
		if i == s.of || c.done.has(i) {
			continue
		}
		if next, legal := s.step(c.state, s.steps[i].input); legal {
			s.push(config{place{next, c.done.with(i)}, c.used})
		}
	}
	for _, k := range s.live {
		if c.used.count(k) == len(s.kinds[k].steps) {
			continue
		}
		if next, legal := s.step(c.state, s.kinds[k].input); legal && next != c.state {
			s.push(config{place{next, c.done}, c.used.with(k)})
		}
	}
}

// states returns the states that were tried.
func (s *search) states() []any {
	var list []any
	for _, c := range s.seen.order {
		if !slices.Contains(list, c.state) {
			list = append(list, c.state)
		}
	}
	return list
}
