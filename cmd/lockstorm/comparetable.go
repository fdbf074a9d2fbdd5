package main

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// print prints what is known of the comparison.
func (c comparison) print(out io.Writer, reference results.Reference) error {
	switch c.format {
	case asJSON:
		return reference.Print(out)
	case asMarkdown:
		return c.page(out, reference)
	}
	terminal.Fit(out)
	if c.byTrial {
		for _, t := range c.Trials {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Name, t.Summary)
			printGroups(out, report.Matrix(c.Records([]scenarios.Trial{t})))
			_, _ = fmt.Fprintln(out)
		}
	} else {
		records := c.Records(c.Trials)
		printGroups(out, report.Matrix(records))
		_, _ = fmt.Fprintln(out)
		printTable(out, report.Firsts(records))
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprintln(out, c.Legend())
	for _, d := range c.Deviations() {
		_, _ = fmt.Fprintln(out, d.Text)
	}
	if c.stopped {
		_, _ = fmt.Fprintln(out, stoppedNote)
	}
	return nil
}
