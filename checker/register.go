package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// register is the state of one guarded resource: its value at the beginning of the current segment,
// and the accepted sections of the segment.
//
// A segment is cut at a quiescent point, where no section is in progress, if the value at that
// point
// is known. It is known, whatever the order of the sections, if nothing overlaps the last section:
// then it is what that section wrote. It is also known if every section has read: each section
// removes one value and adds one, so that the remaining value follows from all reads and writes.
//
// A section whose write has an unknown outcome is accepted if the write is applied, and ends then. In
// a history that records applies no segment is cut while it may still be. Other sections of unknown
// outcome reach beyond a cut. Each takes effect in one segment or in none; one that would come after
// the last section of a segment counts for the next segment. See [unknowns].
type register struct {
	states  []registerState // that are possible at the start of the segment; nil: as it was made
	segment []*section

	last   history.Time // the latest end of an accepted section
	called history.Time // the call of the section that ended then
	wrote  int64        // by that section
	alone  bool         // nothing overlaps it
	blind  bool         // some section of the segment has not read
	change int64        // of the value, by all of the segment, if none is blind

	open   int          // sections in progress
	rested history.Time // when the last of them came to its end

	applies  bool       // the history records when writes are applied
	waiting  []*section // of an unknown outcome that an apply may still decide, and some that it has decided
	unknown  unknowns
	accepted int
	decided  int  // of them
	lost     bool // the value is not known any more
}

// registerState is a possible value of the resource, given that the first members of each class of
// unknown writes, as many as spent says, have taken effect.
type registerState struct {
	value int64
	spent map[*class]int
}

const (
	// minSegment avoids segments that are too small to be worth a search: porcupine decides 0.6 M
	// sections/s one at a time and 2.4 M/s in groups of eight.
	minSegment = 8
	// maxSegment bounds the memory of a search, which is quadratic.
	maxSegment = 10_000
	// maxStates bounds the states that are followed in parallel.
	maxStates = 64
	// maxWait bounds the accepted sections for which a segment is not cut, because a write of
	// unknown outcome may still be applied.
	maxWait = 1000
)

// accept adds an accepted section. If its write was applied, and did not return, other sections may
// have returned since.
func (g *register) accept(s *section) {
	if g.accepted == 0 || s.ret >= g.last {
		g.alone = g.accepted == 0 || s.call > g.last
		g.last, g.called, g.wrote = s.ret, s.call, s.wrote
	} else {
		g.alone = g.alone && s.ret < g.called
	}
	g.accepted++
	if g.lost {
		return
	}
	place := len(g.segment)
	for place > 0 && g.segment[place-1].ret > s.ret {
		place--
	}
	g.segment = slices.Insert(g.segment, place, s)
	g.blind = g.blind || s.blind
	g.change += s.wrote - s.read
}

// awaitsApply reports whether the segment is to grow until a write of unknown outcome is applied.
// Where it is cut, that write may have taken effect before, so that its apply says nothing any
// more.
func (g *register) awaitsApply(most int) bool {
	return g.applies && len(g.segment) < most && slices.ContainsFunc(g.waiting, func(s *section) bool { return s.waits })
}

// close ends a section. If one section ends and another begins in one instant, the point between
// them is not quiescent, in either order.
func (g *register) close(now history.Time) {
	g.open--
	g.rested = now
}

// quiescent reports whether no section was in progress before now and the value is known, provided
// that the sections that have returned have an order.
func (g *register) quiescent(now history.Time) bool {
	return g.open == 0 && g.rested < now && (g.alone || !g.lost && !g.blind && g.unknown.blind == 0)
}

// final returns the value after the segment, if the unknown writes of the set have taken effect in
// it and the segment is complete.
func (g *register) final(from registerState, with set) int64 {
	if g.alone {
		return g.wrote
	}
	value := from.value + g.change
	for _, u := range with {
		value += int64(u.times) * (u.class.wrote - u.class.read)
	}
	return value
}

// next begins the next segment. If it is unknown which unknown writes have taken effect, any of
// them may still do so. That refutes no history that has an order.
func (g *register) next(found result) {
	if found != legal {
		g.states = []registerState{{value: g.wrote}}
		g.lost = !g.alone
	}
	clear(g.segment)
	g.segment, g.blind, g.change = g.segment[:0], false, 0
}

// find begins a segment after sections that were too many to search.
func (g *register) find() {
	g.states = []registerState{{value: g.wrote}}
	g.lost = false
}

// lose forgets the segment.
func (g *register) lose() {
	g.lost = true
	g.segment, g.blind, g.change = nil, false, 0
}

func (g *register) possible() []registerState {
	if g.states == nil {
		g.states = []registerState{{}}
	}
	return g.states
}

// value returns a possible value at the beginning of the segment.
func (g *register) value() int64 { return g.possible()[0].value }

// decide determines whether the segment has an order, for some choice of the unknown writes.
func (g *register) decide(o *orders) result {
	var after []registerState
	for _, from := range g.possible() {
		sets, found := g.needed(o, from)
		if found != legal {
			return found
		}
		for _, with := range sets {
			after = include(after, from.after(with, g.final(from, with)))
		}
	}
	if len(after) == 0 {
		return illegal
	}
	if len(after) > maxStates {
		return untried
	}
	g.states = after
	g.unknown.settle(after)
	return legal
}

// crowded reports whether values were read more often than they can have occurred, whatever the
// order. Sections in progress may come before those of the segment.
func (g *register) crowded(ongoing []*section) bool {
	unknown := g.unknown.all()
	return !slices.ContainsFunc(g.possible(), func(s registerState) bool {
		return !overread(s.value, g.segment, unknown, ongoing)
	})
}

// after returns the state that follows.
func (s registerState) after(with set, value int64) registerState {
	next := registerState{value: value}
	if len(s.spent)+len(with) == 0 {
		return next
	}
	next.spent = make(map[*class]int, len(s.spent)+len(with))
	for c, n := range s.spent {
		next.spent[c] = n
	}
	for _, u := range with {
		next.spent[u.class] += u.times
	}
	return next
}

// include adds a possible state, unless another state with the same value has spent fewer unknown
// writes: whatever follows from this one follows from that one too.
func include(states []registerState, s registerState) []registerState {
	if slices.ContainsFunc(states, s.follows) {
		return states
	}
	states = slices.DeleteFunc(states, func(other registerState) bool { return other.follows(s) })
	return append(states, s)
}

// follows reports whether s has the same value as the other state and has spent at least as much.
func (s registerState) follows(other registerState) bool {
	if s.value != other.value {
		return false
	}
	for c, n := range other.spent {
		if s.spent[c] < n {
			return false
		}
	}
	return true
}
