package jepsen

import (
	"cmp"
	"context"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
)

// search finds all configs in which a step has returned.
type search struct {
	*sweep
	of      int // the step
	seen    *frontier
	next    *frontier
	waiting [][]config // by how much they have used: who has used less goes first
	least   int        // that any of them has used, or less
}

// complete returns the configs in which a step has taken effect, and false if it cannot find all.
func (w *sweep) complete(ctx context.Context, of int) ([]config, bool) {
	s := search{sweep: w, of: of, seen: newFrontier(w.apart()), next: newFrontier(w.apart())}
	for _, c := range w.configs {
		if c.done.has(of) {
			c.done = c.done.without(of)
			s.next.add(c)
			continue
		}
		s.push(c)
	}
	for !s.enough() {
		if w.tried%256 == 0 && ctx.Err() != nil || len(s.seen.order) > maxConfigs {
			return nil, false
		}
		w.tried++
		s.expand(s.pop())
	}
	next := s.next.configs()
	if len(next) == 0 {
		w.reached = s.states()
	}
	w.rough = w.rough || s.seen.merged || s.next.merged
	return next, true
}

// enough reports whether the search can stop: everything is tried, or a hasty sweep has found as
// many configs as it keeps, or an order with the least possible use.
func (s *search) enough() bool {
	for s.least < len(s.waiting) && len(s.waiting[s.least]) == 0 {
		s.least++
	}
	if s.least == len(s.waiting) {
		return true
	}
	found := s.next.order
	if s.lenient || len(found) == 0 || len(found) < s.beam && s.least <= found[0].used.len()+1 {
		return false
	}
	s.rough = true
	return true
}

// push adds a config to the list, unless it is superfluous.
func (s *search) push(c config) {
	c, fresh := s.seen.add(s.settled(c))
	if !fresh {
		return
	}
	used := c.used.len()
	for len(s.waiting) <= used {
		s.waiting = append(s.waiting, nil)
	}
	s.waiting[used] = append(s.waiting[used], c)
	s.least = min(s.least, used)
}

func (s *search) pop() config {
	list := s.waiting[s.least]
	s.waiting[s.least] = list[:len(list)-1]
	return list[len(list)-1]
}

// settled lets every step take effect that does not change the state: no later time is better.
func (s *search) settled(c config) config {
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
	of := &s.steps[s.of]
	for _, d := range s.before(c, of) {
		next, _ := s.step(d.state, of.input)
		s.next.add(config{place{next, d.done}, d.used, d.past})
	}
	if _, legal := s.step(c.state, of.input); legal && of.looks() {
		return // whatever else may follow can follow later
	}
	for _, i := range s.open {
		if i == s.of || c.done.has(i) {
			continue
		}
		for _, d := range s.before(c, &s.steps[i]) {
			next, _ := s.step(d.state, s.steps[i].input)
			s.push(config{place{next, d.done.with(i)}, d.used, d.past})
		}
	}
}

// before returns the configs in which a step can take effect: c itself, or the configs that c
// becomes by operations of unknown outcome. These take effect only right before a step that needs
// them, because an unneeded one need not happen.
func (s *search) before(c config, next *step) []config {
	if _, legal := s.step(c.state, next.input); legal {
		return []config{c}
	}
	return slices.DeleteFunc(s.reach(c, next.needs), func(d config) bool {
		_, legal := s.step(d.state, next.input)
		return !legal
	})
}

// reach returns the configs in which a state results from c by operations of unknown outcome. If
// there are too many paths, a hasty sweep keeps those that use least, and a lenient sweep assumes
// that the operations remain unused.
func (s *search) reach(c config, state string) []config {
	list, cut := s.paths(c, state, s.most)
	if !cut {
		return list
	}
	s.rough = true
	if s.lenient {
		return []config{{list[0].place, c.used, list[0].past}}
	}
	return list[:min(len(list), s.most)]
}

// states returns the number of states that were tried.
func (s *search) states() []any {
	var list []any
	for _, c := range s.seen.order {
		if !slices.Contains(list, c.state) {
			list = append(list, c.state)
		}
	}
	return list
}

// config is one possible state of the world after a prefix of the history.
type config struct {
	place
	used set // operations of unknown outcome that have taken effect, by kind
	past *use
}

// use is one operation of unknown outcome that has taken effect, and those before it. Only the
// story reads it, not the search.
type use struct {
	kind   int
	at     int // the place of the return that it was for
	before *use
}

// place is a config without what it has used.
type place struct {
	state any // of the model
	done  set // operations in progress that have already taken effect
}

// frontier is a set of configs of which none makes another superfluous. Of two configs that differ
// only in what they have used, the one that has used less can do everything that the other can.
type frontier struct {
	used   map[place][]set
	order  []config // as they came, with some that have become superfluous
	most   int      // how many of a place are told apart; 0: all
	merged bool     // some were not
}

func newFrontier(most int) *frontier { return &frontier{used: map[place][]set{}, most: most} }

// add returns c, and whether it was not superfluous. If its place has too many configs, it replaces
// them by one that has used what all of them have used.
func (f *frontier) add(c config) (config, bool) {
	var kept []set
	for _, u := range f.used[c.place] {
		if u.within(c.used) {
			return c, false
		}
		if !c.used.within(u) {
			kept = append(kept, u)
		}
	}
	if f.most > 0 && len(kept) >= f.most {
		for _, u := range kept {
			c.used = c.used.common(u)
		}
		kept, f.merged = nil, true
	}
	f.used[c.place] = append(kept, c.used)
	f.order = append(f.order, c)
	return c, true
}

// holds reports whether c has not become superfluous.
func (f *frontier) holds(c config) bool {
	for _, u := range f.used[c.place] {
		if u == c.used {
			return true
		}
	}
	return false
}

// configs returns the remaining configs in the order in which they were added.
func (f *frontier) configs() []config {
	var list []config
	for _, c := range f.order {
		if f.holds(c) {
			list = append(list, c)
		}
	}
	return list
}

const (
	// maxConfigs bounds the memory of a search.
	maxConfigs = 1 << 18
	// maxMarks is the number of returns that the window before a violation includes.
	maxMarks = 12
)

// sweep decides whether the steps of one key have a legal order. It goes through the history once,
// from event to event, with all configs that are possible there (Lowe, "Testing for
// linearizability", 2017: just-in-time linearization, as in Knossos). A step takes effect only when
// some step returns; then all orders of the steps in progress that end with the returning step are
// tried. So the cost is linear in the length of the history, even without quiescent points.
type sweep struct {
	pendingOps
	reduction
	steps   []step
	open    []int // steps in progress that will return
	marks   []mark
	reached []any // the states that were tried when it got stuck
	judged  int   // steps that have returned
	tried   int   // configs
	rough   bool  // there were too many somewhere
}

// mark is the configs before the event at a place.
type mark struct {
	at      int
	configs []config
}

// event is the call or the return of a step.
type event struct {
	at, step int
	ret      bool
}

func newSweep(m porcupine.Model, steps []step, how reduction) *sweep {
	return &sweep{pendingOps: newPendingOps(m, steps), steps: steps, reduction: how}
}

// events returns the calls and returns in the order of time.
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

// run goes through the steps. If it is stuck or gives up, it returns the step that could not
// return.
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

// few returns the configs that a hasty sweep keeps: those that have used least.
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

// reduction is how a sweep reduces too many configs.
type reduction struct {
	lenient bool // it makes one of them that can do more; otherwise it leaves some behind
	most    int  // how many is not too many, of those that differ only in what they have used
	beam    int  // and of all, unless it is lenient
}

// apart is the number of distinguished configs that differ only in what they have used; 0: all.
func (m reduction) apart() int {
	if m.lenient {
		return m.most
	}
	return 0
}

const (
	// beam is the number of configs that the first hasty sweep keeps.
	beam = 64
	// rounds is how often the sweeps begin again with a larger number.
	rounds = 5
)

// decide approaches the verdict from two sides, because following all configs can be too expensive
// if there are many operations of unknown outcome. A hasty sweep drops the configs that have used
// most: if it finds an order, there is one. A lenient sweep merges configs that differ only in what
// they have used, into one that has used what all of them have used: if it finds no order, there is
// none. If neither decides, both continue with a larger number in the next round.
func decide(ctx context.Context, m porcupine.Model, steps []step, beam int) (w *sweep, verdict checker.Verdict, stuck int) {
	most := 1
	for range rounds {
		w = newSweep(m, steps, reduction{most: most, beam: beam * most})
		verdict, stuck = w.run(ctx)
		if verdict == checker.Holds || !w.rough || ctx.Err() != nil {
			break
		}
		lenient := newSweep(m, steps, reduction{lenient: true, most: most})
		found, last := lenient.run(ctx)
		switch {
		case found == checker.Violated && last == stuck:
			w.reached = lenient.reached
			return w, found, stuck // with configs that the history can have had
		case found == checker.Violated || found == checker.Holds && !lenient.rough:
			return lenient, found, last
		}
		most *= 8
	}
	if w.rough && verdict == checker.Violated {
		verdict = checker.Unknown
	}
	return w, verdict, stuck
}
