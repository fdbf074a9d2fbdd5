package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/words"
)

// tell prints a story for somebody who reads it: what happened one under the other, and
// by itself what is concluded from it.
func tell(out io.Writer, story string) {
	for _, l := range words.Clauses(story) {
		for i, part := range words.Lines(strings.TrimSpace(l), terminal.On(out).Prose()-len("    ")) {
			_, _ = fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", 1+min(i, 1)), part)
		}
	}
}
