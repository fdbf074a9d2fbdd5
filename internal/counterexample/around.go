package counterexample

import "github.com/lockstorm/lockstorm/history"

// limits is how much is kept of what there is of one kind.
type limits struct {
	before int // the place: the last
	within int // it: the first, and as many of the last
	after  int // it: the first
}

// around keeps what is closest to a place, so that memory does not grow with the history.
type around[T any] struct {
	limits
	from, to history.Time

	early []T
	vital []T // which were not to be left out
	first []T
	last  []T
	late  []T

	earlier, between, later int // that were left out
}

func (a *around[T]) add(v T, from, to history.Time) {
	switch {
	case to < a.from:
		a.early = keepLast(a.early, v, a.limits.before, &a.earlier)
	case from > a.to:
		if len(a.late) == a.limits.after {
			a.later++
			return
		}
		a.late = append(a.late, v)
	case len(a.first) < a.limits.within:
		a.first = append(a.first, v)
	default:
		a.last = keepLast(a.last, v, a.limits.within, &a.between)
	}
}

// keep keeps it whatever else there is.
func (a *around[T]) keep(v T) { a.vital = append(a.vital, v) }

// lost is how much was left out.
func (a *around[T]) lost() int { return a.earlier + a.between + a.later }

// keepLast appends to a list of which no more than the last few are kept.
func keepLast[T any](list []T, v T, most int, lost *int) []T {
	if len(list) < most {
		return append(list, v)
	}
	*lost++
	if most > 0 {
		copy(list, list[1:])
		list[most-1] = v
	}
	return list
}

// enough reports whether nothing more that comes after the place would be kept.
func (a *around[T]) enough() bool { return len(a.late) == a.limits.after }

// all returns what was kept, in the order in which it came.
func (a *around[T]) all() []T {
	var all []T
	for _, part := range [][]T{a.early, a.vital, a.first, a.last, a.late} {
		all = append(all, part...)
	}
	return all
}
