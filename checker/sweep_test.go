package checker_test

import (
	"cmp"
	"slices"
)

// breach is one way in which a set of windows breaks a rule: two that overlap, or an
// empty one that had no point at which the lock was free. The second came last. Or it is a
// late window, the second, and those of others that lay between it and the one before.
type breach struct {
	first, second referenceWindow
	between       []referenceWindow
}

func (b breach) at() int { return b.second.from }

// to is when the overlap is over.
func (b breach) to() int {
	if b.second.empty() {
		return b.second.from
	}
	return min(b.first.end, b.second.end)
}

// sweep finds every breach of a set of windows, by one sort: (a) windows that are not
// empty are disjoint; (b) an empty one has a point p, max(call, end) <= p <= return, that
// is not strictly inside another; (c) none that is not empty lies between a late one and the
// one before. Windows that overlap form a block: of the points up to now, those strictly
// inside a window are those between the block's begin and its end.
func sweep(windows []referenceWindow) []breach {
	windows = slices.Clone(windows)
	slices.SortStableFunc(windows, func(v, w referenceWindow) int {
		return cmp.Or(cmp.Compare(v.resource, w.resource), cmp.Compare(v.from, w.from))
	})
	var found []breach
	for len(windows) > 0 {
		n := slices.IndexFunc(windows, func(w referenceWindow) bool { return w.resource != windows[0].resource })
		if n < 0 {
			n = len(windows)
		}
		found = append(found, sweepResource(windows[:n])...)
		windows = windows[n:]
	}
	return found
}

func sweepResource(windows []referenceWindow) []breach {
	var found []breach
	var block []referenceWindow // the windows of the last block
	reach := -1                 // its end
	for _, w := range windows {
		switch {
		case w.empty() && w.late:
			if between := w.interruptions(windows); len(between) > 0 {
				found = append(found, breach{second: w, between: between})
			}
			continue
		case w.empty():
			if w.from < reach && max(w.call, w.end) > block[0].from {
				found = append(found, breach{first: longest(block), second: w})
			}
			continue
		case w.from >= reach:
			block = block[:0]
		}
		for _, v := range block {
			if v.end > w.from {
				found = append(found, breach{first: v, second: w})
			}
		}
		if between := w.interruptions(windows); len(between) > 0 {
			found = append(found, breach{second: w, between: between})
		}
		block, reach = append(block, w), max(reach, w.end)
	}
	return found
}

// interruptions returns the windows of others that took some of the time in which the hold
// of a late one was over. Those that are not over when it begins it meets as well, unless it
// is empty.
func (w referenceWindow) interruptions(windows []referenceWindow) []referenceWindow {
	return slices.DeleteFunc(slices.Clone(windows), func(v referenceWindow) bool {
		return !w.late || v.resource != w.resource || v.hold == w.hold || v.empty() || v.end <= w.over ||
			v.end > w.from && (!w.empty() || v.from >= w.from || w.over == w.from)
	})
}

// longest returns the window that lasts longest.
func longest(windows []referenceWindow) referenceWindow {
	return slices.MaxFunc(windows, func(v, w referenceWindow) int { return cmp.Compare(v.end, w.end) })
}
