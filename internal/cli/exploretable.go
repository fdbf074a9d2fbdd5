package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// explorationsJSON is what --json prints of several scenarios.
type explorationsJSON struct {
	Explorations []explorationJSON `json:"explorations"`
}

// exploreAll explores scenarios one after the other and prints a table. When ctx ends, it prints what
// is there.
func (o exploreOptions) exploreAll(ctx context.Context, worlds []exploredWorld, wanted []checker.Property, out, problems io.Writer) error {
	var all []exploration
	bar := terminal.NewBar(problems, "explore", int64(len(worlds)), terminal.Pieces)
	defer bar.Done()
	for i, w := range worlds {
		ctx, done := shareOf(ctx, len(worlds)-i)
		x, err := o.explore(ctx, w, wanted, nil, io.Discard)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, x)
		bar.Step()
	}
	bar.Done()
	if o.json {
		var j explorationsJSON
		for _, x := range all {
			j.Explorations = append(j.Explorations, x.json())
		}
		if err := writeJSON(out, j); err != nil {
			return err
		}
	} else {
		printExplorations(out, all)
	}
	return exploredExit(all...)
}

// printExplorations prints a line for each scenario, and what is not as expected.
func printExplorations(out io.Writer, all []exploration) {
	terminal.Fit(out)
	t := textfmt.Table{Head: []string{"scenario", "nodes", "clients", "faults", "verdict", "violated (events, faults)", "deviations", "runs", "states"}}
	runs, asExpected := 0, 0
	var differ []string
	for _, x := range all {
		o, s := x.outcome, x.world.scenario
		t.Add(x.world.name, fmt.Sprint(s.Nodes), fmt.Sprint(len(s.Clients)), fmt.Sprint(x.bounds.Faults), string(o.Within()), o.Violations(), x.deviations(),
			textfmt.Grouped(o.Executions+o.Cut), textfmt.Grouped(o.States))
		runs += o.Executions + o.Cut
		if differs := x.differs(); len(differs) == 0 {
			asExpected++
		} else {
			differ = append(differ, differs...)
		}
	}
	printTable(out, &t)
	_, _ = fmt.Fprintf(out, "\n%d of %s as expected (%s runs)\n", asExpected, textfmt.Count(len(all), "scenario"), textfmt.Grouped(runs))
	for _, d := range differ {
		_, _ = fmt.Fprintln(out, d)
	}
}

// deviations says of how many deviations every run was made.
func (x exploration) deviations() string {
	switch o := x.outcome; {
	case o.Complete && x.bounds.Deviations < 0:
		return "all"
	case o.Deviations < 0:
		return "-"
	default:
		return fmt.Sprint(o.Deviations)
	}
}

// differs says which verdicts are not as expected, and how to see why.
func (x exploration) differs() (lines []string) {
	again, open := textfmt.Command(append([]string{"explore", x.world.name}, x.given...)...), false
	for _, j := range x.outcome.Judged {
		match := x.against(j)
		open = open || match == scenarios.Open
		if match != scenarios.Contradicted {
			continue
		}
		see := again
		if j.Find != nil {
			see = x.command(j.Find)
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s, which is not expected; see %s", x.world.name, j.Property.Title(), j.Verdict, see))
	}
	if open {
		lines = append(lines, fmt.Sprintf("%s: not finished; see %s", x.world.name, again))
	}
	return lines
}
