package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// The formats in which tables are printed.
const (
	asText     = "text"
	asMarkdown = "markdown"
	asJSON     = "json"
	asCSV      = "csv"
)

// tableFormats are the formats of the debate and the comparison.
var tableFormats = []string{asText, asMarkdown, asJSON, asCSV}

// checkFormat returns an error for a format that is not one of those of a command, at least two.
func checkFormat(format string, known ...string) error {
	if slices.Contains(known, format) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("unknown format %q: want %s or %s", format, strings.Join(known[:last], ", "), known[last])
}

// printTable prints a table: as wide as the terminal, or at its full width elsewhere.
func printTable(out io.Writer, t *textfmt.Table) {
	t.Text(out, lookOn(out))
}

// lookOn returns the look of a table as wide as the terminal, or at its full width elsewhere.
func lookOn(out io.Writer) textfmt.Look {
	s := terminal.On(out)
	look := textfmt.Look{Head: s.Strong, Cell: s.Verdicts}
	if s.Terminal {
		look.Width = s.Width
	}
	return look
}

// printGroups prints a table like printTable, but in groups of columns also where there is no terminal.
func printGroups(out io.Writer, t *textfmt.Table) {
	look := lookOn(out)
	look.Width = terminal.On(out).Width
	t.Text(out, look)
}

// colored returns the text of a conclusion in its colour.
func colored(on terminal.Screen, o runner.Conclusion, text string) string {
	switch o {
	case runner.AsExpected:
		return on.Good(text)
	case runner.Contradiction:
		return on.Bad(text)
	}
	return on.Strong(text)
}
