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
	if got := Nearest("x", nil, 3); len(got) > 0 {
		t.Errorf("of none: %v", got)
	}
}

// Few names are all told, of many the nearest.
func TestUnknownError(t *testing.T) {
	e := &UnknownError{What: "row", Name: "clam", Known: []string{"calm", "storm"}}
	if got, want := e.Error(), `unknown row "clam": there is calm, storm`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Known = append(e.Known, strings.Fields("a b c d e f g h clamp clams")...)
	if got, want := e.Error(), `unknown row "clam"; the nearest of 12: clamp, clams, calm`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Name = "kleppmann"
	if got, want := e.Error(), `unknown row "kleppmann"; none of 12 resembles it`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
