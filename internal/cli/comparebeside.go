package cli

import (
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// printBeside prints whether the results of a comparison agree with those of another backend.
// Both are stored.
func (c comparison) printBeside(out io.Writer, here, there string) error {
	if err := checkFormat(c.format, asText, asMarkdown); err != nil {
		return err
	}
	var references [2]results.Reference
	var found [2]report.Tallies
	for i, dir := range []string{here, there} {
		reference, err := results.LoadReference(dir, results.CompareFile)
		if err != nil {
			return err
		}
		references[i] = reference
		if found[i], err = report.TalliesOf(reference); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	c.Found = found[0]
	b := c.Beside(found[1], references[0].Backend, references[1].Backend, scenarios.ComparisonDifferences())
	p := &page{out: out}
	if c.format == asMarkdown {
		p.say("# Locks in a store: real servers beside the simulated store\n\nMade by \"make stores\"; RUNS is the number of runs in each trial.\nEach lock goes through the same trials on both sides. Here is %s (%s); there is %s.", b.Names[0], madeWith(references[0].Versions), b.Names[1])
		p.table(b.Table())
	} else {
		terminal.Fit(out)
		printTable(p, b.Table())
		p.say("")
	}
	p.say("%s.", textfmt.Sentence(fmt.Sprintf(besideLegend, b.Names[0], b.Names[1])))
	for i, d := range b.Differences() {
		if i == 0 {
			p.say("\nWhat differs:\n")
		}
		reason := d.Reason
		if reason == "" {
			reason = "NO REASON IS KNOWN"
		}
		p.say("- %v is violated in %v runs on %s and in %v on %s: %s", d, d.Rates[0], b.Names[0], d.Rates[1], b.Names[1], reason)
	}
	if p.err != nil {
		return p.err
	}
	return exitFor(b.Conclusion())
}

const besideLegend = "✓: no run violates it on either side; ✗: the share of runs that violate it on %s and on %s, which can be the same probability; ≠: they cannot (Fisher's exact test, below 1 %%), or only the first has violations (in a trial with drawn plans only if the lock is not known to violate the property); ·: not judged"
