package plots

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// families says of each curve to which picture it belongs: to that of all whose names
// differ from its own in numbers only, if there are others; else to that of all whose
// names have the same words before the first comma, if there are others; and else to that
// of the rest.
func families(curves []string) func(curve string) string {
	return func(curve string) string {
		for _, family := range []func(string) string{withoutNumbers, firstAttribute} {
			others := func(other string) bool { return other != curve && family(other) == family(curve) }
			if slices.ContainsFunc(curves, others) {
				return family(curve)
			}
		}
		return ""
	}
}

// attribute stands between what is said of a curve, one after another.
const attribute = ", "

func firstAttribute(name string) string {
	first, _, _ := strings.Cut(name, attribute)
	return first
}

// withoutNumbers has an n for every number.
func withoutNumbers(name string) string {
	var b strings.Builder
	inside := false
	for _, r := range name {
		digit := unicode.IsDigit(r)
		if !digit {
			b.WriteRune(r)
		} else if !inside {
			b.WriteRune('n')
		}
		inside = digit
	}
	return b.String()
}

// trimHeads leaves out of the names of curves what all of them begin with: the title has
// it.
func trimHeads(curves []Curve) {
	for {
		head, _, found := strings.Cut(curves[0].Name, attribute)
		head += attribute
		if !found || len(curves) == 1 || slices.ContainsFunc(curves, func(c Curve) bool { return !strings.HasPrefix(c.Name, head) }) {
			return
		}
		for i := range curves {
			curves[i].Name = strings.TrimPrefix(curves[i].Name, head)
		}
	}
}

// named gives every picture the name of its files: that of the sweep, and what the picture
// is about.
func named(sweep string, pictures []Picture) []Picture {
	taken := map[string]int{}
	for i, p := range pictures {
		name := strings.TrimSuffix(sweep+"-"+slug(p.Name), "-")
		taken[name]++
		if n := taken[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		pictures[i].Name = name
	}
	return pictures
}

// slug is as much of a text as the name of a file can have everywhere.
func slug(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "'", "")
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}
