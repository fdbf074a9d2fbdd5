package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/internal/timeline"
)

// register is the state of one guarded resource: its possible values at the beginning of the current
// segment, and the accepted sections of the segment, sorted by their returns.
//
// A segment is cut at a quiescent point, where no section is in progress, if the value at that point
// is known. It is known, whatever the order of the sections, if nothing overlaps the last section:
// then it is what that section wrote. It is also known if every section has read: each section
// removes one value and adds one, so that the remaining value follows from all reads and writes.
//
// A section whose write has an unknown outcome is accepted if the write is applied, and ends then. In
// a history that records applies no segment is cut while it may still be. Other sections of unknown
// outcome reach beyond a cut. Each takes effect in one segment or in none; one that would come after
// the last section of a segment counts for the next segment. See [unknowns].
type register struct {
	states  []registerState // at the start of the segment
	segment []*timeline.Section
	blind   bool // some section of the segment has not read

	latest *timeline.Section // the accepted section that ended last
	alone  bool              // nothing overlaps it

	open  int  // sections in progress
	ended bool // a section has ended in this instant

	applies  bool                // the history records when writes are applied
	waiting  []*timeline.Section // of an unknown outcome that an apply may still decide
	unknown  unknowns
	accepted int
	decided  int  // of them
	lost     bool // the value is not known any more
}

const (
	// minSegment avoids segments that are too small to be worth a search: porcupine decides 0.6 M
	// sections/s one at a time and 2.4 M/s in groups of eight.
	minSegment = 8
	// maxSegment bounds the memory of a search, which is quadratic.
	maxSegment = 10_000
	// maxWait bounds the accepted sections for which a segment is not cut, because a write of
	// unknown outcome may still be applied.
	maxWait = 1000
)

// accept adds an accepted section. If its write was applied, and did not return, other sections may
// have returned since.
func (g *register) accept(s *timeline.Section) {
	if g.latest == nil || s.Return >= g.latest.Return {
		g.alone = g.latest == nil || s.Call > g.latest.Return
		g.latest = s
	} else {
		g.alone = g.alone && s.Return < g.latest.Call
	}
	g.accepted++
	if g.lost {
		return
	}
	place := len(g.segment)
	for place > 0 && g.segment[place-1].Return > s.Return {
		place--
	}
	g.segment = slices.Insert(g.segment, place, s)
	g.blind = g.blind || s.Blind
}

// awaitsApply reports whether the segment is to grow until a write of unknown outcome is applied.
// Where it is cut, that write may have taken effect before, so that its apply says nothing any
// more.
func (g *register) awaitsApply(most int) bool {
	return g.applies && len(g.segment) < most && len(g.waiting) > 0
}

// quiescent reports whether no section is in progress at the end of an instant and the value is
// known, provided that the sections that have returned have an order.
func (g *register) quiescent() bool {
	return g.open == 0 && (g.alone || !g.lost && !g.blind)
}

// decide determines whether the segment has an order, for some choice of the unknown writes.
func (g *register) decide(o *orders) result {
	var after []registerState
	for _, from := range g.states {
		to, found := []registerState{g.final(from)}, o.ordered(from.value, g.segment)
		if found == illegal {
			to, found = o.withUnknown(from, g.segment, g.unknown)
		}
		if found == undecided || found == untried {
			return found
		}
		for _, s := range to {
			after = include(after, s)
		}
	}
	switch {
	case len(after) == 0:
		return illegal
	case len(after) > maxStates:
		return untried
	}
	g.states = g.unknown.Settle(after)
	return legal
}

// final returns the state after the segment if it has an order without unknown writes.
func (g *register) final(from registerState) registerState {
	for _, s := range g.segment {
		from.value += s.Wrote - s.Read
	}
	if g.alone {
		from.value = g.latest.Wrote
	}
	return from
}

// next begins the next segment. If it is unknown which unknown writes have taken effect, any of
// them may still do so. That refutes no history that has an order.
func (g *register) next(found result) {
	if found != legal {
		g.states = []registerState{{value: g.latest.Wrote}}
		g.lost = !g.alone
	}
	clear(g.segment)
	g.segment, g.blind = g.segment[:0], false
}

// crowded reports whether values were read more often than they can have occurred, whatever the
// order. Sections in progress may come before those of the segment.
func (g *register) crowded(ongoing []*timeline.Section) bool {
	return !slices.ContainsFunc(g.states, func(s registerState) bool {
		_, readers := overread(s.value, g.segment, g.unknown, ongoing)
		return readers == nil
	})
}
