package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// printTally prints the verdicts of the runs of one scenario, the measurements, the story of the
// first violation of each property, and the reason of the first verdict that is unknown.
func printTally(out io.Writer, t runner.Tally) {
	printJudged(out, t, func(r runner.Result, p checker.Property) string { return promises.Standing(r.Executed(), p) })
}

// printJudged is printTally. standing says whether a violation is a limit of the lock or a defect; "":
// nobody knows.
func printJudged(out io.Writer, t runner.Tally, standing func(runner.Result, checker.Property) string) {
	on := terminal.On(out)
	_, _ = fmt.Fprintf(out, "%s: %s\n\n", t.Scenario.Name, colored(on, t.Conclusion(), headline(t)))
	verdicts := &textfmt.Table{Head: []string{"property", "", "expected", "observed", "runs"}}
	properties := judgedIn(t)
	for _, p := range properties {
		expected := "-"
		if v, ok := t.Scenario.Expect[p]; ok {
			expected = v.String()
		}
		v := t.Observed(p)
		observed := v.String()
		if len(t.Scenario.Expect) > 0 && t.Against > 0 && t.Scenario.Expect.Judge(p, v) == scenarios.Contradicted {
			observed += ", unexpected"
		}
		verdicts.Add(p.Code(), p.Title(), expected, observed, fmt.Sprintf("%d/%d", t.Seen[p][v], t.Runs))
	}
	printTable(out, verdicts)
	printLimits(out, t)
	if measured(len(properties)) {
		printMeasured(out, &t.Measured)
	}
	helped := map[string]bool{}
	for _, p := range checker.Properties() {
		if r, ok := t.First[p]; ok {
			_, _ = fmt.Fprintf(out, "\n%s %s%s:\n", p.Title(), on.Bad("violated"), seeded(r))
			stand := standing(r, p)
			f := promises.As(stand, r.Report.Finding(p))
			tell(out, f.Lines()...)
			if stand != "" {
				tell(out, textfmt.Sentence(stand)+".")
			}
			for _, remedy := range f.Remedies() {
				if !helped[remedy] {
					tell(out, "What helps: "+remedy)
				}
				helped[remedy] = true
			}
		}
	}
	printUnpromised(out, t)
	printSlipped(out, t)
	printUntriedReturns(out, t)
	if t.Interrupted {
		_, _ = fmt.Fprintln(out, "\nStopped before the end: properties not violated so far are unknown.")
		return
	}
	cut := map[uint64]bool{} // seeds of runs of which the reason has been told
	for _, p := range checker.Properties() {
		r, ok := t.FirstUnknown[p]
		switch {
		case !ok || cut[r.Seed]:
		case r.Report.Cut != "":
			cut[r.Seed] = true
			_, _ = fmt.Fprintf(out, "\nCut short%s: %s\nProperties not violated until then are unknown.\n", seeded(r), r.Report.Cut)
		default:
			_, _ = fmt.Fprintf(out, "\n%s %s%s:\n", p.Title(), on.Strong("unknown"), seeded(r))
			tell(out, r.Report.Finding(p).Lines()...)
		}
	}
}

// printLimits prints the measurements for which the scenario states limits.
func printLimits(out io.Writer, t runner.Tally) {
	limits := t.Limits()
	if len(limits) == 0 {
		return
	}
	table := &textfmt.Table{Head: []string{"measurement", "limit", "observed", "95 % interval", "verdict"}}
	for _, m := range limits {
		table.Add(m.Name, report.LimitText(m), report.Amount(m.Unit, m.Value), report.IntervalText(m), m.Verdict().String())
	}
	_, _ = fmt.Fprintln(out)
	printTable(out, table)
}

// printSlipped prints why runs were discarded or do not count, and the findings of the first that does
// not count.
func printSlipped(out io.Writer, t runner.Tally) {
	if t.Discarded > 0 {
		_, _ = fmt.Fprintf(out, "\nDiscarded: %s. The machine was too slow, or a watch saw the keys too late, and the run was made again.\n", textfmt.Count(t.Discarded, "run"))
	}
	if t.Slipped == 0 {
		return
	}
	r := t.Slipping
	_, _ = fmt.Fprintf(out, "\nToo slow%s: %s. Such a run does not count: no property holds in it, and none is violated.\n", seeded(r), summary.Slowness(t))
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Violated {
			_, _ = fmt.Fprintf(out, "\n%s violated, possibly because of the slow machine:\n", f.Property.Title())
			tell(out, f.Lines()...)
		}
	}
}

// printUnpromised says why the lock does not promise lease exclusion, if it was expected to hold and
// held. Other runs may violate it, for example with longer work.
func printUnpromised(out io.Writer, t runner.Tally) {
	promised := promises.Of(t.Scenario)
	if promised == nil || t.Scenario.Generate != nil || t.Scenario.Expect[checker.Lease] != checker.Holds || t.Observed(checker.Lease) != checker.Holds {
		return
	}
	if excuse := promised.Excuse(checker.Lease, t.Scenario); excuse != nil {
		_, _ = fmt.Fprintln(out)
		printProse(out, fmt.Sprintf("Lease exclusion held in these runs, but the lock does not promise it: %s. Other runs may violate it.", excuse))
	}
}

// printUntriedReturns says in how many runs no client tried to acquire after the return of a node.
func printUntriedReturns(out io.Writer, t runner.Tally) {
	if t.UntriedReturns == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	printProse(out, fmt.Sprintf("Not exercised in %d of %s: the return of a node. No client tried to acquire after it, so these runs show nothing of what it may violate. Let a client go on until then (rounds, think, and horizon), or let the node return sooner.",
		t.UntriedReturns, textfmt.Count(t.Runs, "run")))
}

// seeded names the seed of a run. Histories of other programs have none.
func seeded(r runner.Result) string {
	if r.Backend == "" {
		return ""
	}
	return fmt.Sprintf(" (seed %d)", r.Seed)
}

// judgedIn lists the properties that were judged; all properties before the first run.
func judgedIn(t runner.Tally) []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return t.Runs > 0 && len(t.Seen[p]) == 0 })
}

// headline summarizes the runs: as expected or not, or the number of violations if nothing was
// expected.
func headline(t runner.Tally) string {
	runs, conclusion, why := textfmt.Count(t.Runs, "run"), t.Conclusion(), "no verdict was expected"
	if t.Scenario.Generate != nil {
		why = "expected verdicts do not apply to generated faults"
	}
	switch {
	case len(t.Scenario.Expect) > 0 || len(t.Limits()) > 0 || conclusion == runner.Undecided:
		return fmt.Sprintf("%s (%s%s)", conclusion, runs, reservations(t))
	case conclusion == runner.Contradiction:
		return fmt.Sprintf("violations in %d of %s%s; %s", t.Against, runs, uncounted(t), why)
	}
	return fmt.Sprintf("no violation in %s%s; %s", runs, reservations(t), why)
}

// reservations returns notes on the runs that show less than others: that do not count, without any of
// the generated faults, because some wait for a step that is never reached, and without the return of a
// node.
func reservations(t runner.Tally) string {
	text := uncounted(t)
	if t.Scenario.Generate != nil && t.Faultless > 0 {
		text += fmt.Sprintf(", %d of them without a fault", t.Faultless)
	}
	if t.UntriedReturns > 0 {
		text += fmt.Sprintf(", return of a node not exercised in %d", t.UntriedReturns)
	}
	return text
}

// uncounted returns a note on the runs that neither show nor violate anything.
func uncounted(t runner.Tally) (text string) {
	if t.Slipped > 0 {
		text += fmt.Sprintf(", %d of them not counted: too slow", t.Slipped)
	}
	if t.Discarded > 0 {
		text += fmt.Sprintf(", %d more discarded", t.Discarded)
	}
	return text
}

// printMeasured prints a short block of measurements.
func printMeasured(out io.Writer, a *runner.Aggregate) {
	t := &textfmt.Table{}
	for _, f := range a.Figures() {
		t.Add(f.Name, strings.Join(f.Parts, ", "))
	}
	_, _ = fmt.Fprintln(out)
	printTable(out, t)
}

// measured reports whether measurements were made, which requires that all properties are judged.
func measured(judged int) bool { return judged == len(checker.Properties()) }
