package storm

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: what the tag of a scenario's field lets it be called is known here.
func TestNamesOfTagsAreKnown(t *testing.T) {
	for field, known := range map[string][]string{
		"Tokens": slices.Collect(maps.Keys(tokens)),
		"Fence":  slices.Collect(maps.Keys(fenceSources)),
	} {
		f, _ := reflect.TypeFor[scenarios.Lock]().FieldByName(field)
		for _, name := range append(strings.Split(f.Tag.Get("want"), "|"), "") { // or left out
			if !slices.Contains(known, name) {
				t.Errorf("%s can be %q, and there is %q", field, name, known)
			}
		}
	}
}
