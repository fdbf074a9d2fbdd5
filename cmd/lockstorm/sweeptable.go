package main

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/report/campaign"
	"github.com/lockstorm/lockstorm/sweep"
)

// printSweep prints the results for a terminal.
func printSweep(out io.Writer, r sweep.Results) {
	_, _ = fmt.Fprintf(out, "%s: %s\n", r.Sweep, r.Summary)
	if len(r.Points()) > 0 {
		_, _ = fmt.Fprintf(out, "%s (%s) violated, of %s a point (a tenth, but no fewer than 100, where the formula is 0 or 1)\n\n", r.Property.Title(), r.Property.Code(), words.Count(r.Runs, "run"))
		for _, c := range campaign.ByCurve(r.Points()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, campaign.Points(r, c.Outcomes, false))
			_, _ = fmt.Fprintln(out)
		}
	}
	if len(r.Boundaries()) > 0 {
		_, _ = fmt.Fprintf(out, "where %s turns, by %s, of %s each\n\n", r.Property.Title(), r.Params[0].Head(), words.Count(r.Runs, "run"))
		for _, c := range campaign.ByCurve(r.Boundaries()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, campaign.Boundaries(r, c.Outcomes))
			_, _ = fmt.Fprintln(out)
		}
	}
	for _, l := range campaign.Lines(r) {
		for _, line := range words.Lines(l, terminal.On(out).Prose()) {
			_, _ = fmt.Fprintln(out, line)
		}
	}
}
