package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

// printTally prints what the runs of one scenario amount to, and the story of
// the first violation of every property.
func printTally(out io.Writer, t storm.Tally) {
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n\n", t.Scenario.Name, t.Outcome(), count(t.Runs, "run"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "PROPERTY\t\tEXPECTED\tOBSERVED\tRUNS")
	for _, p := range checker.Properties() {
		expected := "-"
		if v, ok := t.Scenario.Expect[p]; ok {
			expected = v.String()
		}
		v := t.Observed(p)
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d/%d\n", p.Code(), p.Title(), expected, v, t.Seen[p][v], t.Runs)
	}
	_ = w.Flush()
	for _, p := range checker.Properties() {
		if r, ok := t.First[p]; ok {
			_, _ = fmt.Fprintf(out, "\n%s violated (seed %d): %s\n", p.Title(), r.Seed, r.Report.Finding(p).Story)
		}
	}
	if t.Interrupted {
		_, _ = fmt.Fprintln(out, "\nStopped before the end: what was not violated so far is unknown.")
		return
	}
	for _, p := range checker.Properties() {
		if r, ok := t.FirstUnknown[p]; ok {
			_, _ = fmt.Fprintf(out, "\n%s unknown (seed %d): %s\n", p.Title(), r.Seed, r.Report.Finding(p).Story)
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
