package main

import (
	"fmt"
	"io"
	"slices"

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

func checkFormat(format string) error {
	if slices.Contains([]string{asText, asMarkdown, asJSON, asCSV}, format) {
		return nil
	}
	return fmt.Errorf("unknown format %q: want %s, %s, %s or %s", format, asText, asMarkdown, asJSON, asCSV)
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
