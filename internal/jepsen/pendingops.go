package jepsen

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// pendingOps is the operations of unknown outcome that have been called. They stay in progress for ever,
// and each would double the cost of the search.
//
// Operations with the same effect form one kind, and take effect in the order of their calls,
// because they are interchangeable. Operations that every config has used are forgotten. A kind
// dies when no later operation needs the state that it produces, or when the state that it needs
// can no longer occur: for example, the release of an owner who is gone.
type pendingOps struct {
	model   porcupine.Model
	kinds   []kind
	index   map[any]int      // of kinds, by their inputs
	giving  map[string][]int // kinds that live, by what they give
	need    map[string]int   // the last return of a step that needs a state
	comes   map[string]int   // and of one that gives it
	due     map[int][]int    // kinds for which one of these is the last
	waning  []int            // kinds whose state will come about no more
	configs []config
	now     int // the place of the return that is being tried
}

// kind is all operations of unknown outcome with the same effect.
type kind struct {
	input        any
	needs, gives string
	steps        []int // those that have been called
	forgotten    []int // the places at which the first of them were
	died         int   // the place; never, while it lives
}

// spent returns the operations that a config had used before the event at a place, without the
// forgotten ones.
func (k *kind) spent(used, at int) []int {
	forgotten, _ := slices.BinarySearch(k.forgotten, at)
	if k.died < at {
		return k.steps
	}
	return k.steps[:forgotten+used]
}

func newPendingOps(m porcupine.Model, steps []step) pendingOps {
	return pendingOps{
		model: m, index: map[any]int{}, giving: map[string][]int{}, due: map[int][]int{},
		need: needs(steps), comes: comes(steps), configs: []config{{place: place{state: m.Init()}}},
	}
}

// needs returns, for each state, the last return of a step that needs it. An unknown step needs a
// state as long as another step needs the state that it produces.
func needs(steps []step) map[string]int {
	need := map[string]int{}
	from := map[string][]string{} // the states that unknown steps make another of
	for _, s := range steps {
		switch {
		case s.needs == "":
		case !s.unknown:
			need[s.needs] = max(need[s.needs], s.ret)
		case !slices.Contains(from[s.gives], s.needs):
			from[s.gives] = append(from[s.gives], s.needs)
		}
	}
	var grown []string
	for state := range need {
		grown = append(grown, state)
	}
	for len(grown) > 0 {
		gives := grown[0]
		grown = grown[1:]
		for _, state := range from[gives] {
			if need[state] < need[gives] {
				need[state] = need[gives]
				grown = append(grown, state)
			}
		}
	}
	return need
}

// comes returns, for each state, the last return of a step that produces it.
func comes(steps []step) map[string]int {
	last := map[string]int{}
	for _, s := range steps {
		if !s.looks() {
			last[s.gives] = max(last[s.gives], s.ret)
		}
	}
	return last
}

// call adds a step of unknown outcome, unless no order can need it.
func (st *pendingOps) call(i int, s *step) {
	if s.looks() || st.need[s.gives] < s.call {
		return
	}
	k, known := st.index[s.input]
	if !known {
		k = st.addKind(s)
	}
	st.kinds[k].steps = append(st.kinds[k].steps, i)
}

// addKind adds a kind.
func (st *pendingOps) addKind(s *step) int {
	k := len(st.kinds)
	st.index[s.input] = k
	st.kinds = append(st.kinds, kind{input: s.input, needs: s.needs, gives: s.gives, died: never})
	st.giving[s.gives] = append(st.giving[s.gives], k)
	st.due[st.need[s.gives]] = append(st.due[st.need[s.gives]], k)
	switch last := st.comes[s.needs]; {
	case s.needs == "" || last == never:
	case last < s.call:
		st.waning = append(st.waning, k)
	default:
		st.due[last] = append(st.due[last], k)
	}
	return k
}

// settle forgets what no order can need after the return at a place.
func (st *pendingOps) settle(now int) {
	if len(st.index) == 0 {
		return
	}
	if dead := st.dying(now); len(dead) > 0 {
		st.removeDead(dead, now)
	}
	common := st.configs[0].used
	for _, c := range st.configs[1:] {
		common = common.common(c.used)
	}
	if common == "" {
		return
	}
	for i := range common.len() {
		k := &st.kinds[common.at(i)]
		k.forgotten = append(k.forgotten, now)
	}
	for i := range st.configs {
		st.configs[i].used = st.configs[i].used.minus(common)
	}
}

// dying returns the kinds that die.
func (st *pendingOps) dying(now int) []int {
	var dead []int
	for _, k := range st.due[now] {
		if st.need[st.kinds[k].gives] <= now {
			dead = append(dead, k)
		} else {
			st.waning = append(st.waning, k)
		}
	}
	delete(st.due, now)
	st.waning = slices.DeleteFunc(st.waning, func(k int) bool {
		if slices.ContainsFunc(st.configs, func(c config) bool { _, legal := st.step(c.state, st.kinds[k].input); return legal }) {
			return false
		}
		dead = append(dead, k)
		return true
	})
	return dead
}

func (st *pendingOps) removeDead(dead []int, now int) {
	for _, k := range dead {
		kind := &st.kinds[k]
		kind.died = min(kind.died, now)
		st.giving[kind.gives] = slices.DeleteFunc(st.giving[kind.gives], func(other int) bool { return other == k })
	}
	left := newFrontier(0)
	for _, c := range st.configs {
		for _, k := range dead {
			c.used = c.used.without(k)
		}
		left.add(c)
	}
	st.configs = left.configs()
}

func (st *pendingOps) step(state any, input any) (any, bool) {
	legal, next := st.model.Step(state, input, known)
	return next, legal
}

// use returns c after an operation of a kind, if one is left that can take effect.
func (st *pendingOps) use(c config, k int) (config, bool) {
	kind := &st.kinds[k]
	if next, legal := st.step(c.state, kind.input); legal && st.left(c, k) {
		return config{place{next, c.done}, c.used.with(k), &use{k, st.now, c.past}}, true
	}
	return c, false
}

func (st *pendingOps) left(c config, k int) bool {
	kind := &st.kinds[k]
	return len(kind.steps)-len(kind.forgotten) > c.used.count(k)
}
