package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/terminal"
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
		printProse(out, l)
	}
}

// sweepPage is the summary of a measurement that is done, with its pictures.
func sweepPage(out io.Writer, r sweep.Results, pictures []string) error {
	p := &page{out: out}
	p.say("# %s\n\nWhat is swept: %s.\n", r.Sweep, strings.TrimSuffix(r.Summary, "."))
	p.say("Made by `%s`; %s. What is counted is the runs in which %s (%s) is violated.\n", report.SweepCommand(r.Head), madeWith(r.Versions), r.Property.Title(), r.Property.Code())
	for _, one := range r.Params {
		p.say("- %s: %s", one.Head(), one.Summary)
	}
	p.say("\nWhat was found:\n")
	for _, l := range report.CampaignLines(r) {
		p.say("- %s", l)
	}
	p.say("")
	for _, name := range pictures {
		p.say("![%s](%s)\n", strings.TrimSuffix(strings.TrimSuffix(name, ".svg"), ".png"), name)
	}
	for _, c := range report.CampaignCurves(r.Points()) {
		p.say("## %s", c.Name)
		p.table(report.PointsTable(r, c.Outcomes, true))
	}
	if len(r.Points()) > 0 {
		p.say("%s a point, a tenth of them but no fewer than 100 where the formula is 0 or 1. Intervals are Wilson's of 95 %%, of the runs in which the property was decided; a formula that is right is inside 95 %% of them. Outage: somebody wanted the lock, and nobody had it or got it. The longest are those of all runs, and acquire p50 and p99 the medians of what they are in a run.\n", textfmt.Count(r.Runs, "run"))
	}
	for _, c := range report.CampaignCurves(r.Boundaries()) {
		p.say("## Boundary: %s", c.Name)
		p.table(report.BoundariesTable(r, c.Outcomes))
	}
	if len(r.Boundaries()) > 0 {
		p.say("In %s. Violated at: the largest value tried below the boundary, shown by a run; holds at: the smallest above it, at which %s showed nothing. The formula and the rules of thumb are followed by what was found there: ✓ holds, ✗ violated, ? left open. Met: neither side is farther from the formula than what the search was to be exact to.", r.Params[0].Head(), textfmt.Count(r.Runs, "run"))
	}
	return p.err
}

// shownPictures are the formats of pictures beside results. "lockstorm figures" writes others.
var shownPictures = []plots.Format{plots.SVG, plots.PNG}

// drawPictures draws the results into their directory and returns the names of the files
// that the summary shows.
func drawPictures(dir string, r sweep.Results, problems io.Writer) ([]string, error) {
	pictures, err := report.CampaignPictures(r)
	if err != nil {
		return nil, err
	}
	bar := terminal.NewBar(problems, "pictures", int64(len(pictures)), terminal.Steps)
	defer bar.Done()
	var names []string
	for _, p := range pictures {
		if err := plots.Save(dir, p.Name, p.Chart, shownPictures, plots.Screen, drawnHere(report.PictureAbout(r.Head))); err != nil {
			return nil, err
		}
		names = append(names, p.Name+".svg")
		bar.Step()
	}
	return names, nil
}
