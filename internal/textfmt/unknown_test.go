package textfmt

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"crash-restart", "calm", "slow-acquire", "crash", "pause-then-write", "delayed-restart", "claim"}
	for name, want := range map[string][]string{
		"clam":          {"claim", "calm"},
		"crash_restart": {"crash-restart"},
		"restart":       {"crash-restart", "delayed-restart"},
		"pause":         {"pause-then-write"},
		"kleppmann":     {},
		"nosuchrow":     {},
		"xy":            {},
	} {
		if got := Nearest(name, known, 2); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Few names are all told, of many the nearest.
func TestUnknownError(t *testing.T) {
	few, many := []string{"calm", "storm"}, strings.Fields("calm storm a b c d e f g h clamp clams")
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"clam", few, `unknown row "clam": there is calm, storm`},
		{"clam", many, `unknown row "clam"; the nearest of 12: clamp, clams, calm`},
		{"kleppmann", many, `unknown row "kleppmann"; none of 12 resembles it`},
	} {
		if got := (&UnknownError{What: "row", Name: c.name, Known: c.known}).Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
