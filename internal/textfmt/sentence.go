package textfmt

import (
	"slices"
)

// Sentence begins with a capital.
func Sentence(text string) string {
	r := slices.Clone([]byte(text))
	if len(r) > 0 && 'a' <= r[0] && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}
