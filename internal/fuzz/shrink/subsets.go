package shrink

import (
	"iter"
	"slices"
)

// manySubsets is up to how many things all subsets are tried. Of more only those of a
// single one, or that lack one or two.
const manySubsets = 6

// subsets yields the proper subsets of 1 to n that have at least so many members, the
// smallest first: which to keep. They are made one by one, for there can be many.
func subsets(n, least int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for size := max(least, 1); size < n; size++ {
			if n > manySubsets && size > 1 && size < n-2 {
				size = n - 3 // none between
				continue
			}
			for one := range choose(n, size) {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// choose yields the ways to choose so many of the numbers from 1 to n, in the order of a
// dictionary. Each is a slice of its own.
func choose(n, size int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		way := make([]int, size)
		for i := range way {
			way[i] = i + 1
		}
		for size <= n && yield(slices.Clone(way)) {
			last := size - 1
			for last >= 0 && way[last] == n-size+last+1 {
				last--
			}
			if last < 0 {
				return
			}
			way[last]++
			for i := last + 1; i < size; i++ {
				way[i] = way[i-1] + 1
			}
		}
	}
}
