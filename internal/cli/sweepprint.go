package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printSweep prints the results for a terminal.
func printSweep(out io.Writer, r sweep.Results) {
	_, _ = fmt.Fprintf(out, "%s: %s\n", r.Sweep, r.Summary)
	if len(r.Points()) > 0 {
		_, _ = fmt.Fprintf(out, "%s (%s) violated, of %s\n\n", r.Property.Title(), r.Property.Code(), runsPerPoint(r))
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

// runsPerPoint is how many runs a point has, and those with fewer.
func runsPerPoint(r sweep.Results) string {
	text := textfmt.Count(r.Runs, "run") + " per point"
	if certain := sweep.Runs(r.Runs, new(float64)); r.Fit().Compared > 0 && certain < r.Runs {
		text += fmt.Sprintf(" (%d where the formula is 0 or 1)", certain)
	}
	return text
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
		p.say("[%s](%[1]s) has every point: %s. Intervals are Wilson's of 95 %%, of the runs in which the property was decided; a formula that is right is inside 95 %% of them. Outage: somebody wanted the lock, and nobody had it or got it.\n", sweep.PointsFile, runsPerPoint(r))
	}
	if len(r.Boundaries()) > 0 {
		p.say("[%s](%[1]s) has every boundary, in %s: the largest value tried below it, at which a run violates the property, and the smallest above it, at which %s showed nothing; then the formula and the rules of thumb, each with what was found there.", sweep.BoundariesFile, r.Params[0].Head(), textfmt.Count(r.Runs, "run"))
	}
	return p.err
}

// mostShown is the largest x for which the scenario of a boundary is shown.
const mostShown = 1000

// showUnit prints the scenario of a point, or that of a boundary at some x: "7", "3@0.95".
func showUnit(s sweep.Sweep, which string, out io.Writer) error {
	number, at, isAt := strings.Cut(which, "@")
	n, err := strconv.Atoi(number)
	x := 0.0
	if err == nil && isAt {
		x, err = strconv.ParseFloat(at, 64)
	}
	if err != nil || !(0 <= x && x <= mostShown) {
		return fmt.Errorf("--show %s: want the number of a point, or a boundary and an x from 0 to %d, such as 3@0.95", which, mostShown)
	}
	shown, err := s.At(n, x)
	switch {
	case err != nil:
		return fmt.Errorf("--show %s: %w", which, err)
	case isAt == (n <= len(s.Points)):
		return fmt.Errorf("--show %s: numbers up to %d are points; the rest are boundaries, which need an x, such as %d@0.95", which, len(s.Points), len(s.Points)+1)
	}
	return shown.Print(out)
}

// listSweeps prints the sweeps.
func listSweeps(out io.Writer) error {
	terminal.Fit(out)
	t := &textfmt.Table{Head: []string{"sweep", "points", "boundaries", "what it shows"}}
	for _, known := range sweeps {
		s := known.Make()
		t.Add(s.Name, fmt.Sprint(len(s.Points)), fmt.Sprint(len(s.Boundaries)), s.Summary)
	}
	printTable(out, t)
	return nil
}
