package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// print prints what is known of the debate.
func (d debate) print(out io.Writer, how shown, reference results.Reference) error {
	switch {
	case how.format == asJSON:
		return reference.Print(out)
	case how.format == asMarkdown && !how.short:
		return d.page(out, reference)
	case how.format == asMarkdown:
		return d.digest(out)
	}
	d.table(cellWidth(how.format)).text(out)
	_, _ = fmt.Fprintf(out, "\n%s\n", legend())
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", shownLegend, d.again)
	if !how.short {
		d.printRates(out)
		d.printSeries(out)
	}
	for _, r := range d.refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	if d.stopped {
		_, _ = fmt.Fprintln(out, stoppedNote)
	}
	return nil
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

// table has a line for each row and each series, under their topics. Claims are
// clipped to so many characters.
func (d debate) table(width int) *table {
	t := &table{head: []string{"row", "Kleppmann", "antirez, redis.io", "found", "shown", "seed"}}
	add := func(topic scenarios.Topic, name string, c scenarios.Claims, cells ...string) {
		if len(d.topics) > 1 {
			t.section(topic.Name)
		}
		t.add(append([]string{name, clip(dash(c.Kleppmann), width), clip(dash(c.Antirez), width)}, cells...)...)
	}
	for _, topic := range d.topics {
		for _, s := range topic.Rows {
			if tally, ok := d.found[s.Name]; ok {
				add(topic, s.Name, s.Claims, signs(tally), showing(tally), witness(tally))
			}
		}
		for _, s := range topic.Series {
			if c := d.found.curve(s); len(c.tallies) > 0 {
				add(topic, seriesName(s), s.Claims, c.short(), c.showing(), "–")
			}
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
func (d debate) printRates(out io.Writer) {
	t := &table{head: []string{"row", "violated", "runs", "share", "95 % interval"}}
	clean := storm.Rate{}
	for _, s := range d.rows() {
		tally, ok := d.found[s.Name]
		if !ok {
			continue
		}
		clean = storm.Rate{N: max(clean.N, tally.Runs)}
		for _, g := range rates(tally) {
			t.add(s.Name, strings.Join(g.codes, " "), g.rate.String(), g.rate.Percent(), g.rate.Interval())
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
func (d debate) printSeries(out io.Writer) {
	explain := false
	for _, s := range d.series() {
		c := d.found.curve(s)
		if len(c.tallies) == 0 {
			continue
		}
		_, _ = fmt.Fprintf(out, "\n%s: %s\n", seriesName(s), s.Summary)
		c.table().text(out)
		_, _ = fmt.Fprintln(out, c.threshold())
		_, _ = fmt.Fprintf(out, "Point %s is \"lockstorm run %s\".\n", s.Points[0].Value, s.Points[0].Name)
		explain = true
	}
	if explain {
		_, _ = fmt.Fprintf(out, "\n%s\n", seriesLegend)
	}
}
