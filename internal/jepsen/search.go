package jepsen

import (
	"context"
	"slices"
)

// search is how all configs are found in which a step has returned.
type search struct {
	*sweep
	of      int // the step
	seen    *frontier
	next    *frontier
	waiting [][]config // by how much they have used: who has used less goes first
	least   int        // that any of them has used, or less
}

// complete returns the configs in which a step has taken effect, and false if
// it cannot find them all.
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

// enough reports whether all is tried, or a hasty sweep has found as much as it
// goes on with, or orders that used as little as any.
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

// push puts a config on the list, unless it is superfluous.
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

// settled lets everything take effect that only looks: there is no better time
// for it.
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

// before returns the configs in which a step can take effect: c itself, or else
// those that c becomes by operations of unknown outcome. These take effect only
// right before what needs them, since what nobody needs need not happen.
func (s *search) before(c config, next *step) []config {
	if _, legal := s.step(c.state, next.input); legal {
		return []config{c}
	}
	return slices.DeleteFunc(s.reach(c, next.needs), func(d config) bool {
		_, legal := s.step(d.state, next.input)
		return !legal
	})
}

// reach returns the configs in which a state has come about from c by operations
// of unknown outcome. Where the ways are too many, a hasty sweep takes those that
// use least, and a lenient one takes none of them to use anything.
func (s *search) reach(c config, state string) []config {
	list, cut := s.ways(c, state, s.most)
	if !cut {
		return list
	}
	s.rough = true
	if s.lenient {
		return []config{{list[0].place, c.used, list[0].past}}
	}
	return list[:min(len(list), s.most)]
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
