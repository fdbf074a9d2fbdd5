package textfmt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// UnknownError says that there is nothing of a name: all names, where they are few, or else
// those that are nearest to it.
type UnknownError struct {
	What  string // as in "row"
	Name  string
	Known []string // what there is
}

const (
	fewNames  = 8 // are all told
	mostNamed = 3
)

// Few reports whether the error tells all names that there are.
func (e *UnknownError) Few() bool { return len(e.Known) <= fewNames }

func (e *UnknownError) Error() string {
	unknown := fmt.Sprintf("unknown %s %q", e.What, Name(e.Name))
	switch {
	case len(e.Known) == 0:
		return unknown + ": there is none"
	case e.Few():
		return unknown + ": there is " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("%s; the nearest of %d: %s", unknown, len(e.Known), strings.Join(Nearest(e.Name, e.Known, mostNamed), ", "))
}

// Nearest returns the known names that somebody may have meant, the likeliest first: those that
// contain the given name, then those with the fewest corrections. After the first, names of which
// more than half would change are left out.
func Nearest(name string, known []string, most int) []string {
	far := func(k string) int {
		if strings.Contains(k, name) {
			return 0
		}
		return levenshtein.ComputeDistance(name, k)
	}
	near := slices.Clone(known)
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(len(a), len(b)))
	})
	near = near[:min(most, len(near))]
	for len(near) > 1 && far(near[len(near)-1]) > max(2, len(name)/2) {
		near = near[:len(near)-1]
	}
	return near
}
