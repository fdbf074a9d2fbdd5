package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbers is a flag with a list of numbers from 1 on and of ranges: "1,7,12-14". A repeated flag adds to
// the list.
type numbers []int

// Set implements pflag.Value.
func (n *numbers) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, bad := strconv.Atoi(high)
		if err != nil || bad != nil || first < 1 || last < first || last > mostPoints {
			return fmt.Errorf("%q: want numbers from 1 to %d and ranges, such as 1,7,12-14", part, mostPoints)
		}
		for i := first; i <= last; i++ {
			*n = append(*n, i)
		}
	}
	return nil
}

// String implements pflag.Value. It returns what Set accepts.
func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

// Type implements pflag.Value.
func (*numbers) Type() string { return "numbers" }

// sorted returns each number once, in order.
func (n *numbers) sorted() []int { return slices.Compact(slices.Sorted(slices.Values(*n))) }
