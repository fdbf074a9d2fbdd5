package shrink

// manySubsets is up to how many things all subsets are tried. Of more only those of a
// single one, or that lack one or two.
const manySubsets = 6

// subsets lists the proper subsets of 1 to n that have at least so many members, the
// smallest first: which to keep.
func subsets(n, least int) [][]int {
	var list [][]int
	for size := max(least, 1); size < n; size++ {
		if n <= manySubsets || size == 1 || size >= n-2 {
			list = append(list, choose(1, n, size)...)
		}
	}
	return list
}

// choose lists the ways to choose so many of the numbers from one to another.
func choose(from, to, size int) (ways [][]int) {
	if size == 0 {
		return [][]int{nil}
	}
	for first := from; first+size-1 <= to; first++ {
		for _, rest := range choose(first+1, to, size-1) {
			ways = append(ways, append([]int{first}, rest...))
		}
	}
	return ways
}
