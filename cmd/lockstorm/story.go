package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// tell prints the lines of a story, one under the other. What a line has too much hangs below
// it.
func tell(out io.Writer, story ...string) {
	for _, l := range story {
		for i, part := range textfmt.Lines(l, terminal.On(out).Prose()-len("    ")) {
			_, _ = fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", 1+min(i, 1)), part)
		}
	}
}
