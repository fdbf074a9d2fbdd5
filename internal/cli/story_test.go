package cli

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/terminal"
)

// A story has a line for each thing that happened, and says the same.
func TestStoriesAreReadable(t *testing.T) {
	story := []string{
		"node 2 crashes at 2ms;", `client 1 was granted "invoice-7" at 2.5ms;`, strings.Repeat("on and ", 20) + "on it went.",
		"Broken assumption: a node keeps its keys (node 2 forgot)",
	}
	var out strings.Builder
	tell(&out, story...)
	want(t, "the words", strings.Join(strings.Fields(out.String()), " "), strings.Join(story, " "))
	lines := strings.Split(out.String(), "\n")
	want(t, "the first line", lines[0], "  node 2 crashes at 2ms;")
	want(t, "the second line", lines[1], `  client 1 was granted "invoice-7" at 2.5ms;`)
	want(t, "the last line", lines[len(lines)-2], "  Broken assumption: a node keeps its keys (node 2 forgot)")
	for _, l := range lines {
		if len(l) > terminal.Unwatched {
			t.Errorf("%q is too long", l)
		}
	}
}
