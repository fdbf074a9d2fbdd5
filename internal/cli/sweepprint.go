package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printSweep prints the results for a terminal.
func printSweep(out io.Writer, r sweep.Results) {
	_, _ = fmt.Fprintf(out, "%s: %s\n", r.Sweep, r.Summary)
	if len(r.Points()) > 0 {
		fewer := ""
		if r.Fit().Compared > 0 {
			fewer = " (a tenth, at least 100, where the formula is 0 or 1)"
		}
		_, _ = fmt.Fprintf(out, "%s (%s) violated, of %s per point%s\n\n", r.Property.Title(), r.Property.Code(), textfmt.Count(r.Runs, "run"), fewer)
		for _, c := range sweep.Curves(r.Points()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, report.PointsTable(r, c.Outcomes, false))
			_, _ = fmt.Fprintln(out)
		}
	}
	if len(r.Boundaries()) > 0 {
		_, _ = fmt.Fprintf(out, "where %s turns, by %s, of %s each\n\n", r.Property.Title(), r.Params[0].Head(), textfmt.Count(r.Runs, "run"))
		for _, c := range sweep.Curves(r.Boundaries()) {
			_, _ = fmt.Fprintf(out, "%s\n", c.Name)
			printGroups(out, report.BoundariesTable(r, c.Outcomes))
			_, _ = fmt.Fprintln(out)
		}
	}
	for _, l := range report.CampaignLines(r) {
		printProse(out, l)
	}
}

// sweepPage is the summary of a measurement that is done. Its values are in the CSV files.
func sweepPage(out io.Writer, r sweep.Results) error {
	p := &page{out: out}
	p.say("# %s\n\nWhat is swept: %s.\n", r.Sweep, strings.TrimSuffix(r.Summary, "."))
	p.say("Made by `%s`; %s. What is counted is the runs in which %s (%s) is violated.\n", report.SweepCommand(r.Head), madeWith(r.Versions), r.Property.Title(), r.Property.Code())
	for _, one := range r.Params {
		p.say("- %s: %s", one.Head(), one.Summary)
	}
	for _, text := range report.SweepFormulas(r) {
		p.say("- formula: %s", text)
	}
	p.say("\nWhat was found:\n")
	for _, l := range report.CampaignLines(r) {
		p.say("- %s", l)
	}
	p.say("\n![%s](%s.svg)\n", r.Sweep, r.Sweep)
	if len(r.Points()) > 0 {
		p.say("[%s](%[1]s) has every point: %s, a tenth of them but no fewer than 100 where the formula is 0 or 1. Intervals are Wilson's of 95 %%, of the runs in which the property was decided; a formula that is right is inside 95 %% of them. Outage: somebody wanted the lock, and nobody had it or got it.\n", sweep.PointsFile, textfmt.Count(r.Runs, "run"))
	}
	if len(r.Boundaries()) > 0 {
		p.say("[%s](%[1]s) has every boundary, in %s: the largest value tried below it, at which a run violates the property, and the smallest above it, at which %s showed nothing; then the formula and the rules of thumb, each with what was found there.", sweep.BoundariesFile, r.Params[0].Head(), textfmt.Count(r.Runs, "run"))
	}
	return p.err
}
