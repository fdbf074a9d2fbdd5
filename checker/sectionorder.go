package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/model"
)

// result says what is known of an order of sections.
type result uint8

const (
	legal result = iota + 1
	illegal
	undecided // the search was given up
	untried   // too many unknown writes may have taken effect or not
)

// searchLimit is the default limit of the search for an order of one segment.
const searchLimit = 2 * time.Second

// orders looks for an order in which the sections of a segment, which are sorted by their returns, can
// have run one after another. The balance of reads and writes decides nearly all segments. Porcupine
// decides the others.
type orders struct {
	limit  time.Duration // of a search; 0: none
	waited time.Duration // for the last search that was given up
}

// ordered reports whether the sections have an order from a value on, without any unknown write.
func (o *orders) ordered(value int64, sections []*timeline.Section) result {
	if found := forced(value, sections); found != undecided {
		return found
	}
	if _, readers := overread(value, sections, nil, nil); readers != nil {
		return illegal
	}
	ops := make([]porcupine.Operation, len(sections))
	for i, s := range sections {
		ops[i] = operation(s, model.SectionInput{Blind: s.Blind, Read: s.Read, Wrote: s.Wrote})
	}
	return o.search(model.RegisterFrom(value), ops)
}

func operation(s *timeline.Section, input any) porcupine.Operation {
	return porcupine.Operation{ClientId: s.Client - 1, Call: int64(s.Call), Return: int64(s.Return), Input: input}
}

// search asks porcupine. After a search that was given up it halves the limit.
func (o *orders) search(m porcupine.Model, ops []porcupine.Operation) result {
	switch porcupine.CheckOperationsTimeout(m, ops, o.limit) {
	case porcupine.Ok:
		return legal
	case porcupine.Illegal:
		return illegal
	}
	o.waited, o.limit = o.limit, max(o.limit/2, 1)
	return undecided
}

// forced decides sections that fit in the order of their returns, and those that have all read, each
// another value: then what a section wrote says which section is next.
func forced(value int64, sections []*timeline.Section) result {
	if fits(value, sections) {
		return legal
	}
	readers := make(map[int64]*timeline.Section, len(sections))
	for _, s := range sections {
		if s.Blind || readers[s.Read] != nil {
			return undecided
		}
		readers[s.Read] = s
	}
	var called history.Time // the latest call so far
	for range sections {
		s := readers[value]
		if s == nil || s.Return < called {
			return illegal
		}
		delete(readers, value)
		value, called = s.Wrote, max(called, s.Call)
	}
	return legal
}

// fits reports whether each section has read what the one before it wrote.
func fits(value int64, sections []*timeline.Section) bool {
	for _, s := range sections {
		if !s.Blind && s.Read != value {
			return false
		}
		value = s.Wrote
	}
	return true
}

// overread looks for values that were read by more sections than they can have occurred: each
// occurrence can be read and replaced by one section only. It returns the first such value with its
// readers. An unknown write may have taken effect. A section in progress, if it has not called its
// write, may produce one occurrence of any value, but gains nothing if the value that it has read and
// replaces is needed as well.
func overread(value int64, sections []*timeline.Section, unknown unknowns, ongoing []*timeline.Section) (int64, []*timeline.Section) {
	readers, visits := map[int64]int{}, map[int64]int{value: 1}
	for _, s := range sections {
		visits[s.Wrote]++
		if !s.Blind {
			readers[s.Read]++
		}
	}
	for _, s := range ongoing {
		if s.Stage == timeline.Writing {
			visits[s.Wrote]++
		}
	}
	excess := 0
	for v, n := range readers {
		visits[v] += len(unknown[v])
		excess += max(0, n-visits[v])
	}
	for _, s := range ongoing {
		if s.Stage == timeline.Reading || s.Stage == timeline.Holding && readers[s.Read] < visits[s.Read] {
			excess--
		}
	}
	if excess <= 0 {
		return 0, nil
	}
	first := slices.IndexFunc(sections, func(s *timeline.Section) bool {
		if !s.Blind {
			visits[s.Read]--
		}
		return !s.Blind && visits[s.Read] < 0
	})
	value = sections[first].Read
	return value, slices.DeleteFunc(slices.Clone(sections), func(s *timeline.Section) bool { return s.Blind || s.Read != value })
}

// unknowns is the sections of a resource whose write has an unknown outcome: each may take effect at
// any time after its call, or never. They are listed by the value that they write, in the order of
// their calls.
//
// Few of them matter. A segment that has an order without them needs none of them: an effect that is
// postponed to a later segment is still available there. Consider an order from which no unknown write
// can be omitted. Then whatever directly follows an unknown write has read its value (otherwise the
// write could be omitted), an accepted section comes in the end, and no value occurs twice on the way
// from one accepted section to the next (otherwise the part in between could be omitted). So unknown
// writes come in chains, each of which leads to what an accepted section has read.
type unknowns map[int64][]*timeline.Section

// add adds an unknown write. A write that does not change the value is ignored: nothing can need it.
func (u unknowns) add(s *timeline.Section) {
	if !s.Blind && s.Read == s.Wrote {
		return
	}
	list := u[s.Wrote]
	place, _ := slices.BinarySearchFunc(list, s, func(a, b *timeline.Section) int { return cmp.Compare(a.Call, b.Call) })
	u[s.Wrote] = slices.Insert(list, place, s)
}

// all returns every unknown section in the order of the writes.
func (u unknowns) all() []*timeline.Section {
	var all []*timeline.Section
	for _, list := range u {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *timeline.Section) int {
		return cmp.Or(cmp.Compare(a.WriteAt, b.WriteAt), cmp.Compare(a.Client, b.Client))
	})
	return all
}

// about returns a copy of those that can lead to what sections have read. A search that is given up
// may still run for a moment, while others are added and forgotten.
func (u unknowns) about(sections []*timeline.Section) unknowns {
	some := unknowns{}
	var values []int64
	for _, s := range sections {
		if !s.Blind {
			values = append(values, s.Read)
		}
	}
	for len(values) > 0 {
		v := values[len(values)-1]
		values = values[:len(values)-1]
		if _, known := some[v]; known || len(u[v]) == 0 {
			continue
		}
		some[v] = slices.Clone(u[v])
		for _, s := range u[v] {
			if !s.Blind {
				values = append(values, s.Read)
			}
		}
	}
	return some
}

// registerState is a value that a resource may have, and the unknown writes that have taken effect then.
// Within a segment called is the latest call of those that have taken effect in it: none of them may
// come before a section that returned earlier.
type registerState struct {
	value  int64
	spent  []*timeline.Section
	called history.Time
}

// maxStates bounds the states that are followed in parallel.
const maxStates = 1024

// include adds a state, unless whatever follows from it follows from another one too.
func include(states []registerState, s registerState) []registerState {
	if slices.ContainsFunc(states, s.follows) {
		return states
	}
	return append(slices.DeleteFunc(states, func(other registerState) bool { return other.follows(s) }), s)
}

// follows reports whether s has the same value as the other state and has spent at least as much.
func (s registerState) follows(other registerState) bool {
	return s.value == other.value && s.called >= other.called && !slices.ContainsFunc(other.spent, func(w *timeline.Section) bool {
		return !slices.Contains(s.spent, w)
	})
}

func (s registerState) equals(other registerState) bool { return s.follows(other) && other.follows(s) }

// Settle forgets the unknown writes that have taken effect in every state.
func (u unknowns) Settle(states []registerState) []registerState {
	for _, w := range states[0].spent {
		if slices.ContainsFunc(states, func(s registerState) bool { return !slices.Contains(s.spent, w) }) {
			continue
		}
		is := func(s *timeline.Section) bool { return s == w }
		if u[w.Wrote] = slices.DeleteFunc(u[w.Wrote], is); len(u[w.Wrote]) == 0 {
			delete(u, w.Wrote)
		}
		for i, s := range states {
			states[i].spent = slices.DeleteFunc(slices.Clone(s.spent), is)
		}
	}
	return states
}

// unknownSearch looks for all states in which sections can end, together with unknown writes.
type unknownSearch struct {
	unknown unknowns
	after   []registerState
	tooMany bool // states
}

// withUnknown returns the states in which sections can end that have no order from a state on without
// unknown writes. There are none if the sections have no order with them either.
func (o *orders) withUnknown(from registerState, sections []*timeline.Section, unknown unknowns) ([]registerState, result) {
	u := unknownSearch{unknown: unknown.about(sections)}
	if _, readers := overread(from.value, sections, u.unknown, nil); len(u.unknown) == 0 || readers != nil {
		return nil, illegal
	}
	ops := make([]porcupine.Operation, 0, len(sections)+1)
	for _, s := range sections {
		ops = append(ops, operation(s, s))
	}
	ops = append(ops, porcupine.Operation{Call: int64(timeline.Forever), Return: int64(timeline.Forever)})
	found := o.search(porcupine.Model{
		Init: func() any { return []registerState{from} },
		Step: u.step,
		Equal: func(a, b any) bool {
			return slices.EqualFunc(a.([]registerState), b.([]registerState), registerState.equals)
		},
	}, ops)
	switch {
	case found == undecided:
		return nil, undecided
	case u.tooMany:
		return nil, untried
	case len(u.after) == 0:
		return nil, illegal
	}
	return u.after, legal
}

// step takes a section from several states to the next ones. The operation without a section comes
// last. It notes the states, and is never legal, so that porcupine goes through all orders.
func (u *unknownSearch) step(state, input, _ any) (bool, any) {
	s, more := input.(*timeline.Section)
	var next []registerState
	for _, from := range state.([]registerState) {
		if !more {
			u.after = include(u.after, registerState{value: from.value, spent: from.spent})
			continue
		}
		u.chains(from, s, nil, func(used []*timeline.Section) {
			to := registerState{value: s.Wrote, spent: slices.Concat(from.spent, used), called: from.called}
			for _, w := range used {
				to.called = max(to.called, w.Call)
			}
			if s.Return >= to.called {
				next = include(next, to)
			}
		})
	}
	u.tooMany = u.tooMany || max(len(next), len(u.after)) > maxStates
	return len(next) > 0 && !u.tooMany, next
}

// chains calls each for every chain of unknown writes that leads from a state to a section, the last
// write first. behind is the end of the chain. Of several writes with the same effect the one that was
// called first takes effect first.
func (u *unknownSearch) chains(from registerState, to *timeline.Section, behind []*timeline.Section, each func([]*timeline.Section)) {
	if to.Blind || to.Read == from.value {
		each(behind)
		return
	}
	if slices.ContainsFunc(behind, func(w *timeline.Section) bool { return w.Wrote == to.Read }) {
		return
	}
	var tried []*timeline.Section
	for _, w := range u.unknown[to.Read] {
		same := func(t *timeline.Section) bool { return t.Blind == w.Blind && (w.Blind || t.Read == w.Read) }
		if !slices.Contains(from.spent, w) && !slices.ContainsFunc(tried, same) {
			tried = append(tried, w)
			u.chains(from, w, append(behind, w), each)
		}
	}
}
