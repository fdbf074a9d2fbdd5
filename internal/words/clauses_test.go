package words

import (
	"slices"
	"testing"
)

func TestClauses(t *testing.T) {
	for story, want := range map[string][]string{
		"a; b. c":               {"a;", "b.", "c"},
		"a (b; c. d); e":        {"a (b; c. d);", "e"},
		"at 1.5ms it ends":      {"at 1.5ms it ends"},
		"a) ; b":                {"a) ;", "b"},
		"":                      {""},
		`granted "x; y" (z. z)`: {`granted "x;`, `y" (z. z)`}, // a name can be anything
	} {
		if got := Clauses(story); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", story, got, want)
		}
	}
}
