package checker

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// unknowns is the sections of a resource whose write has an unknown outcome: it may take effect at
// any time after its call, or never. They are grouped into classes with the same effect. Within a
// class the section that was called first takes effect first; members are interchangeable once a
// segment is over.
//
// Many unknown writes cost little. A segment that has an order without them needs none of them: an
// effect that is postponed to a later segment is still available there. Consider an order from
// which no unknown write can be omitted. Then whatever directly follows an unknown section has read
// what it wrote (otherwise the section could be omitted), and an accepted section comes in the end;
// and no value occurs twice on the way from one accepted section to the next (otherwise the part in
// between could be omitted). So only unknown sections matter from whose value a path leads to a
// reader in the segment, and of a class at most as many as it has readers. There are fewer still,
// because each occurrence of a value can be read and replaced by one section only: see
// [candidates].
type unknowns struct {
	classes map[effectOf]*class
	writers map[int64][]*class // by the value that they write
	blind   int                // sections that have not read
}

// effectOf is the effect of a section on the value.
type effectOf struct {
	blind       bool
	read, wrote int64
}

// class is the unknown sections with the same effect.
type class struct {
	effectOf
	members []*section // in the order of their calls; spent ones are not kept
}

// add adds an unknown write. A write that does not change the value is ignored: nothing can need
// it.
func (u *unknowns) add(s *section) {
	e := effectOf{blind: s.blind, read: s.read, wrote: s.wrote}
	if s.blind {
		u.blind++
	} else if s.read == s.wrote {
		return
	}
	c := u.classes[e]
	if c == nil {
		if u.classes == nil {
			u.classes, u.writers = map[effectOf]*class{}, map[int64][]*class{}
		}
		c = &class{effectOf: e}
		u.classes[e] = c
		u.writers[s.wrote] = append(u.writers[s.wrote], c)
	}
	place, _ := slices.BinarySearchFunc(c.members, s, func(a, b *section) int { return cmp.Compare(a.call, b.call) })
	c.members = slices.Insert(c.members, place, s)
}

// settle forgets the members that are spent in every state.
func (u *unknowns) settle(states []registerState) {
	for c, n := range states[0].spent {
		for _, s := range states[1:] {
			n = min(n, s.spent[c])
		}
		if n > 0 {
			u.forget(c, n)
			for _, s := range states {
				s.forget(c, n)
			}
		}
	}
}

func (s registerState) forget(c *class, n int) {
	if s.spent[c] -= n; s.spent[c] == 0 {
		delete(s.spent, c)
	}
}

func (u *unknowns) forget(c *class, n int) {
	if c.blind {
		u.blind -= n
	}
	clear(c.members[:n])
	if c.members = c.members[n:]; len(c.members) > 0 {
		return
	}
	delete(u.classes, c.effectOf)
	if u.writers[c.wrote] = remove(u.writers[c.wrote], c); len(u.writers[c.wrote]) == 0 {
		delete(u.writers, c.wrote)
	}
}

// all returns every unknown section in the order of the writes.
func (u *unknowns) all() []*section {
	var all []*section
	for _, c := range u.classes {
		all = append(all, c.members...)
	}
	slices.SortFunc(all, func(a, b *section) int {
		return cmp.Or(cmp.Compare(a.writeAt, b.writeAt), cmp.Compare(a.client, b.client))
	})
	return all
}

// set is the unknown sections that take effect in a segment.
type set []use

type use struct {
	class *class
	times int
}

// maxSets bounds the sets that are tried in a segment.
const maxSets = 1024

// needed returns the smallest sets of unknown writes that must take effect within the segment for
// it to have an order.
func (g *register) needed(o *orders, from registerState) ([]set, result) {
	switch o.ordered(from.value, g.segment) {
	case legal:
		return []set{nil}, legal
	case undecided:
		return nil, undecided
	}
	if len(g.unknown.classes) == 0 {
		return nil, legal
	}
	c := g.candidates(from)
	if c.hopeless() {
		return nil, legal
	}
	tries := 1
	for _, one := range c.list {
		if tries *= one.most - one.least + 1; tries > maxSets {
			return nil, untried
		}
	}
	return g.try(o, from, c.sets())
}

// try returns those of the given sets with which the segment has an order, smaller sets first.
func (g *register) try(o *orders, from registerState, sets []set) ([]set, result) {
	var needed []set
	for _, with := range sets {
		if slices.ContainsFunc(needed, with.contains) {
			continue
		}
		switch o.ordered(from.value, g.with(from, with)) {
		case legal:
			needed = append(needed, with)
		case undecided:
			return nil, undecided
		}
	}
	return needed, legal
}

// with returns the segment with a set of unknown writes added.
func (g *register) with(from registerState, with set) []*section {
	all := slices.Clone(g.segment)
	for _, u := range with {
		spent := from.spent[u.class]
		for _, s := range u.class.members[spent : spent+u.times] {
			late := *s
			late.ret = g.last // no matter when, once it is in
			all = append(all, &late)
		}
	}
	return all
}

// contains reports whether a set includes all of another. The classes of both have the same order.
func (s set) contains(other set) bool {
	for _, u := range other {
		i := slices.IndexFunc(s, func(v use) bool { return v.class == u.class })
		if i < 0 || s[i].times < u.times {
			return false
		}
	}
	return true
}

func (s set) size() int {
	n := 0
	for _, u := range s {
		n += u.times
	}
	return n
}

// candidates is the unknown writes that a segment may need.
type candidates struct {
	list    []candidate
	tally   *tally        // of the accepted sections
	value   int64         // at the start
	readers map[int64]int // the most candidates that read a value
	writers map[int64]int // or write it
}

// candidate is a class and the number of its members in a smallest set.
type candidate struct {
	class       *class
	least, most int
}

func (g *register) candidates(from registerState) *candidates {
	c := &candidates{tally: count(g.segment), value: from.value, readers: map[int64]int{}, writers: map[int64]int{}}
	c.gather(g, from)
	for c.narrow() {
	}
	for i := range c.list {
		one := &c.list[i]
		w := one.class.wrote
		one.least = max(0, c.tally.readers[w]-c.visits(w)+one.most)
	}
	return c
}

// gather finds the candidates, backwards from the values that the sections of the segment read.
func (c *candidates) gather(g *register, from registerState) {
	var queue []int64
	reached := map[int64]bool{}
	reach := func(value int64) {
		if !reached[value] {
			reached[value] = true
			queue = append(queue, value)
		}
	}
	readers := 0
	for _, s := range g.segment {
		if !s.blind {
			readers++
			reach(s.read)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, class := range g.unknown.writers[queue[i]] {
			most := min(readers, class.calledBy(g.last)-from.spent[class])
			if most <= 0 {
				continue
			}
			c.list = append(c.list, candidate{class: class})
			c.allow(&c.list[len(c.list)-1], most)
			if !class.blind {
				reach(class.read)
			}
		}
	}
}

// calledBy returns the number of members called by an instant.
func (c *class) calledBy(then history.Time) int {
	n, _ := slices.BinarySearchFunc(c.members, then+1, func(s *section, t history.Time) int { return cmp.Compare(s.call, t) })
	return n
}

// allow sets the largest number of members of a class that may be needed.
func (c *candidates) allow(one *candidate, most int) {
	c.writers[one.class.wrote] += most - one.most
	if !one.class.blind {
		c.readers[one.class.read] += most - one.most
	}
	one.most = most
}

// narrow lowers these numbers where there are fewer readers of the written value, or where accepted
// sections need the value that members read. It reports whether it changed anything.
func (c *candidates) narrow() bool {
	narrower := false
	for i := range c.list {
		one := &c.list[i]
		e := one.class.effectOf
		most := min(one.most, c.tally.readers[e.wrote]+c.readers[e.wrote])
		if !e.blind {
			most = min(most, max(0, c.visits(e.read)-c.tally.readers[e.read]))
		}
		if most < one.most {
			c.allow(one, most)
			narrower = true
		}
	}
	c.list = slices.DeleteFunc(c.list, func(one candidate) bool { return one.most == 0 })
	return narrower
}

// visits returns the largest possible number of times that the resource had a value.
func (c *candidates) visits(value int64) int {
	n := c.tally.writers[value] + c.writers[value]
	if value == c.value {
		n++
	}
	return n
}

// hopeless reports whether some value was read more often than it can have occurred.
func (c *candidates) hopeless() bool {
	for value, n := range c.tally.readers {
		if n > c.visits(value) {
			return true
		}
	}
	return false
}

// sets returns all sets of the candidates that are large enough, smaller sets first.
func (c *candidates) sets() []set {
	all := []set{nil}
	for _, one := range c.list {
		var longer []set
		for _, s := range all {
			for n := one.least; n <= one.most; n++ {
				if n == 0 {
					longer = append(longer, s)
					continue
				}
				longer = append(longer, append(slices.Clip(s), use{one.class, n}))
			}
		}
		all = longer
	}
	slices.SortStableFunc(all, func(a, b set) int { return cmp.Compare(a.size(), b.size()) })
	return all
}
