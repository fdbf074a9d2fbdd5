package checker

import (
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// register is what is known of one guarded resource: its value at the begin of
// the current segment, and the accepted sections of the segment.
//
// A segment is cut at a quiescent point, at which no section is in progress,
// if nothing overlaps its last section: whatever the order, the value is then
// what that section wrote. Only sections whose write has an unknown outcome
// reach beyond a cut; each may take effect in one segment or in none. Which
// sets of them would have had to take effect so far is kept in spent, as bits;
// sets that contain another one of these say nothing more. In particular an
// unknown write that comes after the last section of a segment is left to the
// next one.
type register struct {
	value   int64
	segment []*section
	last    history.Time // the latest return in it
	alone   bool         // nothing overlaps the section that returned then
	open    int          // sections in progress
	unknown []*section
	spent   []uint64 // nil: only the empty set
	lost    bool     // the value is not known any more
}

const (
	// minSegment keeps segments from being too small to be worth a search:
	// porcupine does 0.6 M sections/s one at a time and 2.4 M/s in eights.
	minSegment = 8
	// maxSegment bounds the memory of a search, which is quadratic.
	maxSegment = 10_000
	// maxUnknown bounds the unknown writes whose effects are tried out.
	maxUnknown = 10
)

// accept adds an accepted section and returns false if the segment is too long.
func (g *register) accept(s *section) bool {
	if g.lost {
		return true
	}
	g.alone = len(g.segment) == 0 || s.call > g.last
	g.last = max(g.last, s.ret)
	g.segment = append(g.segment, s)
	return len(g.segment) < maxSegment
}

// quiescent reports whether the segment can be cut before a section that is
// called at now.
func (g *register) quiescent(now history.Time) bool {
	return g.open == 0 && g.alone && len(g.segment) >= minSegment && g.last < now
}

// next begins the next segment.
func (g *register) next() {
	g.value = g.segment[len(g.segment)-1].wrote
	clear(g.segment)
	g.segment = g.segment[:0]
}

// decide finds out whether the segment has an order, for some choice of the
// unknown writes.
func (g *register) decide() result {
	needed, found := g.needed()
	if found == undecided {
		return undecided
	}
	g.spent = spend(g.spent, needed)
	if len(g.spent) == 0 {
		g.spent = nil // go on as if it had not happened
		return illegal
	}
	return legal
}

// needed returns the smallest sets of unknown writes that must take effect
// within the segment for it to have an order.
func (g *register) needed() ([]uint64, result) {
	switch ordered(g.value, g.segment) {
	case legal:
		return []uint64{0}, legal
	case undecided:
		return nil, undecided
	}
	if len(g.unknown) > maxUnknown {
		return nil, undecided
	}
	var sets []uint64
	for _, set := range bySize(len(g.unknown)) {
		if slices.ContainsFunc(sets, func(small uint64) bool { return small&set == small }) {
			continue
		}
		switch ordered(g.value, g.with(set)) {
		case legal:
			sets = append(sets, set)
		case undecided:
			return nil, undecided
		}
	}
	return sets, legal
}

// with returns the segment with a set of unknown writes added.
func (g *register) with(set uint64) []*section {
	all := slices.Clone(g.segment)
	for i, s := range g.unknown {
		if set&(1<<i) == 0 {
			continue
		}
		late := *s
		late.ret = max(g.last, s.call) // no matter when, once it is in
		all = append(all, &late)
	}
	return all
}

// bySize returns all sets of n elements but the empty one, the smaller first.
func bySize(n int) []uint64 {
	sets := make([]uint64, 0, 1<<n)
	for set := uint64(1); set < 1<<n; set++ {
		sets = append(sets, set)
	}
	slices.SortStableFunc(sets, func(a, b uint64) int { return bits.OnesCount64(a) - bits.OnesCount64(b) })
	return sets
}

// spend adds the sets that a segment needs to those that were spent before it:
// an unknown write takes effect only once.
func spend(before, needed []uint64) []uint64 {
	if before == nil {
		before = []uint64{0}
	}
	var after []uint64
	for _, b := range before {
		for _, n := range needed {
			if b&n == 0 && !slices.Contains(after, b|n) {
				after = append(after, b|n)
			}
		}
	}
	return after
}
