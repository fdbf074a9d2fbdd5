package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// print prints what is known of the debate.
func (d debate) print(out io.Writer, reference results.Reference) error {
	switch {
	case d.show.format == asJSON:
		return reference.Print(out)
	case d.show.format == asMarkdown && !d.show.short:
		return d.page(out, reference)
	case d.show.format == asMarkdown:
		return d.digest(out)
	}
	terminal.Fit(out)
	d.table(cellWidth(asText), whole).text(out)
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", signLegend, codesWithin(terminal.On(out).Prose()))
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", shownLegend, d.again)
	if !d.show.short {
		rows, curves := d.findings(d.topics...)
		printRates(out, rows)
		printSeries(out, curves)
	}
	d.printSlipped(out)
	for _, r := range d.refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	if d.stopped {
		_, _ = fmt.Fprintln(out, stoppedNote)
	}
	return nil
}

// printSlipped names the scenarios of which runs slipped.
func (d debate) printSlipped(out io.Writer) {
	rows, curves := d.findings(d.topics...)
	var all []storm.Tally
	for _, r := range rows {
		all = append(all, r.tally)
	}
	for _, c := range curves {
		all = append(all, c.tallies...)
	}
	for _, t := range all {
		if t.Slipped > 0 {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Scenario.Name, slowness(t))
		}
	}
}

// shownLegend explains the last columns of the main table.
const shownLegend = `Shown: the runs whose every verdict was the expected one; of a series, the values that are as expected.
Seed: that of the first such run, or of the first that contradicts.`

// cellWidth is how many characters of a claim there is room for.
func cellWidth(format string) int {
	if format == asText {
		return 21
	}
	return 1000
}

// columns are what a table says of a row, and of a series, behind what the two
// sides say.
type columns struct {
	head     []string
	row      func(storm.Tally) []string
	series   func(curve) []string
	variants bool // have lines, too
}

// whole is the columns of the main table.
var whole = columns{
	head:   []string{"found", "shown", "seed"},
	row:    func(t storm.Tally) []string { return []string{signs(t), showing(t), witness(t)} },
	series: func(c curve) []string { return []string{c.short(), c.showing(), "–"} },

	variants: true,
}

// table has a line for each row and each series that is found, under their topics.
// Claims are clipped to so many characters.
func (d debate) table(width int, columns columns) *table {
	t := &table{head: append([]string{"row", "Kleppmann", "antirez, redis.io"}, columns.head...)}
	for _, topic := range d.topics {
		add := func(name string, c scenarios.Claims, cells []string) {
			if len(d.topics) > 1 {
				t.section(topic.Name)
			}
			t.add(append([]string{name, clip(dash(c.Kleppmann), width), clip(dash(c.Antirez), width)}, cells...)...)
		}
		rows, curves := d.findings(topic)
		for _, r := range rows {
			if columns.variants || r.row.VariantOf == "" {
				add(r.row.Name, r.row.Claims, columns.row(r.tally))
			}
		}
		for _, c := range curves {
			add(seriesName(c.Series), c.Claims, columns.series(c))
		}
	}
	return t
}

// seriesName tells a series from a row of the same name.
func seriesName(s scenarios.Series) string { return s.Name + " (series)" }

// showing says how many runs showed what was expected, and what that amounts to
// if it is not enough.
func showing(t storm.Tally) string {
	return amounting(t.Shown, t.Runs, t.Conclusion())
}

func (c curve) showing() string {
	shown := 0
	for _, t := range c.tallies {
		if t.Conclusion() == storm.AsExpected {
			shown++
		}
	}
	return amounting(shown, len(c.Points), worst(c.tallies))
}

func amounting(shown, runs int, o storm.Conclusion) string {
	text := fmt.Sprintf("%d/%d", shown, runs)
	if o != storm.AsExpected {
		text += " " + o.String()
	}
	return text
}

// witness is the seed of the run that shows what the row found.
func witness(t storm.Tally) string {
	if t.Shown+t.Against == 0 {
		return "–"
	}
	return fmt.Sprint(t.Witness)
}

// printRates prints how often what was violated was so.
func printRates(out io.Writer, rows []finding) {
	t := &table{head: []string{"row", "violated", "runs", "share", "95 % interval"}}
	clean := storm.Rate{}
	for _, r := range rows {
		clean = storm.Rate{N: max(clean.N, r.tally.Runs)}
		for _, g := range rates(r.tally) {
			t.add(r.row.Name, strings.Join(g.codes, " "), g.rate.String(), g.rate.Percent(), g.rate.Interval())
		}
	}
	if clean.N == 0 {
		return
	}
	if len(t.lines) > 0 {
		_, _ = fmt.Fprintln(out)
		t.text(out)
	}
	_, _ = fmt.Fprintf(out, "\nWilson intervals, in percent. No violation in %d runs is %s.\n", clean.N, clean.Interval())
}

// rated is properties that were violated equally often.
type rated struct {
	codes []string
	rate  storm.Rate
}

// rates lists the properties that were violated.
func rates(t storm.Tally) []rated {
	var list []rated
next:
	for _, p := range checker.Properties() {
		rate := t.Rate(p)
		if rate.K == 0 {
			continue
		}
		for i := range list {
			if list[i].rate == rate {
				list[i].codes = append(list[i].codes, p.Code())
				continue next
			}
		}
		list = append(list, rated{[]string{p.Code()}, rate})
	}
	return list
}

// printSeries prints a table for each series.
func printSeries(out io.Writer, curves []curve) {
	for _, c := range curves {
		_, _ = fmt.Fprintf(out, "\n%s: %s\n", seriesName(c.Series), c.Summary)
		c.table().text(out)
		_, _ = fmt.Fprintln(out, c.threshold())
		_, _ = fmt.Fprintf(out, "Point %s is \"lockstorm run %s\".\n", c.Points[0].Value, c.Points[0].Name)
	}
	if len(curves) > 0 {
		_, _ = fmt.Fprintf(out, "\n%s\n", terminal.Flow(out, seriesLegend))
	}
}
