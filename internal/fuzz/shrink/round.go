package shrink

import "math"

// digits weighs the significant digits of a number: two for each, one less for 1, 2
// and 5 with nothing but zeros behind them; none for 0.
func digits(n int64) int {
	if n = size(n); n == 0 {
		return 0
	}
	for n%10 == 0 {
		n /= 10
	}
	if n == 1 || n == 2 || n == 5 {
		return 1
	}
	weight := 0
	for ; n > 0; n /= 10 {
		weight += 2
	}
	return weight
}

// magnitude is how many of 1, 2, 5, 10, 20, 50, … are not above a number.
func magnitude(n int64) int {
	n, below := size(n), 0
	for r := range roundNumbers(1) {
		if r > n {
			break
		}
		below++
	}
	return below
}

// roundNumbers yields 1, 2, 5, 10, … times a unit, as long as they are numbers.
func roundNumbers(unit int64) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for ; ; unit *= 10 {
			for _, first := range []int64{1, 2, 5} {
				if unit > math.MaxInt64/10 || !yield(first*unit) {
					return
				}
			}
		}
	}
}

// rounder lists numbers that may stand for n, in the order in which they should be
// tried: 0, the round ones from a unit on up to the first above n, which are the
// smallest first; then n with fewer digits. A number below 0 has such itself.
func rounder(n, unit int64) []int64 {
	if n < 0 {
		list := rounder(-n, unit)
		for i := range list {
			list[i] = -list[i]
		}
		return append(rounder(-n, unit), list...)
	}
	list := []int64{0}
	for r := range roundNumbers(unit) {
		list = append(list, r)
		if r > n {
			break
		}
	}
	for place := int64(1e18); place > 1; place /= 10 {
		if down := n - n%place; down > 0 && down < n {
			list = append(list, down, down+place)
		}
	}
	return list
}

func size(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
