package external

import (
	"slices"
	"strconv"
	"strings"
)

// named is the resource in a scenario whose clients lock resources of names.
const named = "name"

// names are names that locks confuse which build keys or channels of them, cut them, fold or normalize
// them, or take them for patterns. All of them are valid UTF-8, because programs get them as JSON, and no
// longer than a history allows.
var names = slices.Concat(
	[]string{"a", "a:b", "a:b:c", "a/b", "b:c", "A", "a ", "a*", "{a}b", "{a}", "a:lock", "a:fence", "a\x01\x7f", "a%3Ab", "\u00e9", "e\u0301"},
	[]string{strings.Repeat("long", 60) + "1", strings.Repeat("long", 60) + "2"},
)

// nameOf returns the name that the lock gets for a resource of a scenario.
func nameOf(resource string) string {
	if number, is := strings.CutPrefix(resource, named+"/"); is {
		if n, err := strconv.Atoi(number); err == nil && 1 <= n && n <= len(names) {
			return names[n-1]
		}
	}
	return resource
}
