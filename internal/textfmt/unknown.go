package textfmt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// UnknownError says that there is nothing of a name: all names, where they are few, or else
// those that resemble it.
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
	return unknown + "; " + NearestOf(e.Name, e.Known)
}

// NearestOf says which of many known names somebody may have meant.
func NearestOf(name string, known []string) string {
	near := Nearest(name, known, mostNamed)
	if len(near) == 0 {
		return fmt.Sprintf("none of %d resembles it", len(known))
	}
	return fmt.Sprintf("the nearest of %d: %s", len(known), strings.Join(near, ", "))
}

// Nearest returns the known names that somebody may have meant, the likeliest first: those that
// contain the given name, then those with the fewest corrections. Names of which more than a third
// would change are left out, but two letters may always be wrong, if that leaves any of the name.
func Nearest(name string, known []string, most int) []string {
	far := func(k string) int {
		if strings.Contains(k, name) {
			return 0
		}
		return levenshtein.ComputeDistance(name, k)
	}
	length := utf8.RuneCountInString(name)
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		d := far(k)
		return d > max(2, length/3) || d >= max(length, 1)
	})
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(len(a), len(b)))
	})
	return near[:min(most, len(near))]
}
