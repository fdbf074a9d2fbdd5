package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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

// oneLine puts an error of several lines into one.
var oneLine = strings.NewReplacer(":\n", ": ", "\n", "; ")

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

// page writes text for people, and returns the first write error at the end.
type page struct {
	out io.Writer
	err error
}

func (p *page) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// Write lets a table be printed into the page.
func (p *page) Write(text []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.out.Write(text)
	}
	return len(text), p.err
}

// Screen is what the page is printed on.
func (p *page) Screen() terminal.Screen { return terminal.On(p.out) }

// madeWith names versions, in the order of their names.
func madeWith(versions map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	return strings.Join(parts, ", ")
}

func writeJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// printProse prints a text in lines as long as a reader wants them.
func printProse(out io.Writer, text string) {
	for _, l := range textfmt.Lines(text, terminal.On(out).Prose()) {
		_, _ = fmt.Fprintln(out, l)
	}
}

// tell prints a story, one event to a line. Long lines are wrapped and indented.
func tell(out io.Writer, story ...string) {
	for _, l := range story {
		for i, part := range textfmt.Lines(l, terminal.On(out).Prose()-len("    ")) {
			_, _ = fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", 1+min(i, 1)), part)
		}
	}
}
