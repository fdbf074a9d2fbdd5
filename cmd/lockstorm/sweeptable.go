package main

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printSweep prints the results for a terminal.
func printSweep(out io.Writer, r sweep.Results) {
	_, _ = fmt.Fprintf(out, "%s: %s\n", r.Sweep, r.Summary)
	if len(r.Points()) > 0 {
		_, _ = fmt.Fprintf(out, "%s (%s) violated, of %s a point (a tenth, but no fewer than 100, where the formula is 0 or 1)\n\n", r.Property.Title(), r.Property.Code(), textfmt.Count(r.Runs, "run"))
		for _, c := range report.CampaignCurves(r.Points()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, report.PointsTable(r, c.Outcomes, false))
			_, _ = fmt.Fprintln(out)
		}
	}
	if len(r.Boundaries()) > 0 {
		_, _ = fmt.Fprintf(out, "where %s turns, by %s, of %s each\n\n", r.Property.Title(), r.Params[0].Head(), textfmt.Count(r.Runs, "run"))
		for _, c := range report.CampaignCurves(r.Boundaries()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, report.BoundariesTable(r, c.Outcomes))
			_, _ = fmt.Fprintln(out)
		}
	}
	for _, l := range report.CampaignLines(r) {
		for _, line := range textfmt.Lines(l, terminal.On(out).Prose()) {
			_, _ = fmt.Fprintln(out, line)
		}
	}
}
