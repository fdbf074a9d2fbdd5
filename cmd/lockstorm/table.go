package main

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
	width := 0
	if s := terminal.On(out); s.Terminal {
		width = s.Width
	}
	printWithin(out, t, width)
}

// printGroups prints a table like printTable, but in groups of columns also where there is no terminal.
func printGroups(out io.Writer, t *textfmt.Table) { printWithin(out, t, terminal.On(out).Width) }

func printWithin(out io.Writer, t *textfmt.Table, width int) {
	s := terminal.On(out)
	t.Text(out, textfmt.Look{Width: width, Head: s.Strong, Cell: s.Verdicts})
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
