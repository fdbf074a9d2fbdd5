package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// columns are the columns of a table that show results.
type columns struct {
	head   []string
	row    func(runner.Tally) []string
	series func(report.Curve) []string
}

// whole is the columns of the main table.
func (d *debate) whole() columns {
	c := columns{
		head: []string{"found", "shown", "seed"},
		row: func(t runner.Tally) []string {
			return []string{summary.Signs(t), summary.Showing(t), summary.Witness(t)}
		},
		series: func(c report.Curve) []string { return []string{c.Short(), c.Showing(), "–"} },
	}
	return d.withLosses(c)
}

// short is the columns of the table as Markdown.
func (d *debate) short() columns {
	return d.withLosses(columns{
		head:   []string{"found"},
		row:    func(t runner.Tally) []string { return []string{outline(t)} },
		series: func(c report.Curve) []string { return []string{c.Short()} },
	})
}

// outline names the violated properties, and says if anything was not as expected.
func outline(t runner.Tally) string {
	text := "✓"
	for i, g := range summary.Rates(t) {
		if i == 0 {
			text = "✗"
		}
		text += " " + strings.Join(g.Codes, " ")
	}
	if o := t.Conclusion(); o != runner.AsExpected {
		text += ", " + o.String()
	}
	return text
}

// debateLine is a row or a series in a table of the debate.
type debateLine struct {
	topic  string // "" if the table has one topic
	name   string
	claims scenarios.Claims
	of     []string // scenarios
	rowOf  scenarios.File
	series *scenarios.Series // nil: it is a row
}

// lines returns the lines of a table, in its order.
func (d debate) lines() (all []debateLine) {
	for _, t := range d.topics {
		topic := ""
		if len(d.topics) > 1 {
			topic = t.Name
		}
		for _, r := range t.Rows {
			all = append(all, debateLine{topic: topic, name: r.Name, claims: r.Claims, of: []string{r.Name}, rowOf: r})
		}
		for _, s := range t.Series {
			l := debateLine{topic: topic, name: report.SeriesName(s), claims: s.Claims, series: &s}
			for _, p := range s.Points {
				l.of = append(l.of, p.Name)
			}
			all = append(all, l)
		}
	}
	return all
}

// claimed returns the cells with the claims, clipped to a width in characters.
func (l debateLine) claimed(width int) []string {
	return []string{textfmt.Clip(textfmt.Dash(l.claims.Kleppmann), width), textfmt.Clip(textfmt.Dash(l.claims.Antirez), width)}
}

// cells returns the cells with the results, or nil if there are none.
func (l debateLine) cells(found report.Tallies, c columns) []string {
	if l.series != nil {
		if curve := found.Curve(*l.series); len(curve.Tallies) > 0 {
			return c.series(curve)
		}
		return nil
	}
	if t, ok := found[l.name]; ok {
		return c.row(t)
	}
	return nil
}

// claimants is the head of the columns with the claims.
var claimants = []string{"Kleppmann", "antirez, redis.io"}

// table has a line for each row and series with results, under their topics. Claims are clipped to a
// width in characters.
func (d debate) table(width int, c columns) *textfmt.Table {
	if d.unclaimed {
		return tableOf(d.lines(), c.head, func(l debateLine) []string { return l.cells(d.found, c) })
	}
	return tableOf(d.lines(), append(claimants[:2:2], c.head...), func(l debateLine) []string {
		cells := l.cells(d.found, c)
		if cells == nil {
			return nil
		}
		return append(l.claimed(width), cells...)
	})
}

// tableOf makes a table of lines, without those that have no cells.
func tableOf(lines []debateLine, head []string, cells func(debateLine) []string) *textfmt.Table {
	t := &textfmt.Table{Head: append([]string{"row"}, head...)}
	for _, l := range lines {
		if these := cells(l); these != nil {
			if l.topic != "" {
				t.Section(l.topic)
			}
			t.Add(append([]string{l.name}, these...)...)
		}
	}
	return t
}

// claimWidth is the largest width of a claim on a terminal in characters.
const claimWidth = 21

// mainTable prints the main table of the debate as text, each line as soon as it and those before it
// are decided. On a terminal without room for all columns the claims follow in a table of their own.
type mainTable struct {
	out     io.Writer
	lines   []debateLine // that are not printed yet
	printed []debateLine
	found   report.Tallies
	open    map[string]bool // scenarios that are run and not settled
	beside  bool            // claims stand beside results
	below   bool            // claims stand in a table of their own
	columns columns
	stream  *textfmt.Stream
}

// newMainTable prints the head of the table. widest returns cells that are as wide as the results of
// a line will be, or nil if it will have none.
func (d *debate) newMainTable(out io.Writer, widest func(debateLine) []string) *mainTable {
	lines := d.lines()
	m := &mainTable{out: out, lines: lines, found: report.Tallies{}, open: map[string]bool{}, columns: d.whole()}
	look := lookOn(out)
	all := tableOf(lines, append(claimants[:2:2], m.columns.head...), func(l debateLine) []string {
		cells := widest(l)
		if cells == nil {
			return nil
		}
		return append(l.claimed(claimWidth), cells...)
	})
	m.beside = !d.unclaimed && (look.Width == 0 || all.Width() <= look.Width)
	m.below = !d.unclaimed && !m.beside
	if !m.beside {
		all = tableOf(lines, m.columns.head, widest)
	}
	m.stream = all.Stream(out, look)
	return m
}

// settled receives the results of a scenario, and prints the lines that are decided now.
func (m *mainTable) settled(t runner.Tally) {
	m.found[t.Scenario.Name] = t
	delete(m.open, t.Scenario.Name)
	for len(m.lines) > 0 && !m.waits(m.lines[0]) {
		m.next()
	}
}

// waits reports whether some results of the line are to come.
func (m *mainTable) waits(l debateLine) bool {
	for _, name := range l.of {
		if m.open[name] {
			return true
		}
	}
	return false
}

// next prints the next line, unless it has no results.
func (m *mainTable) next() {
	l := m.lines[0]
	m.lines = m.lines[1:]
	cells := l.cells(m.found, m.columns)
	if cells == nil {
		return
	}
	if m.beside {
		cells = append(l.claimed(claimWidth), cells...)
	}
	if l.topic != "" {
		m.stream.Section(l.topic)
	}
	m.stream.Add(append([]string{l.name}, cells...)...)
	m.printed = append(m.printed, l)
}

// finish prints the other lines that have results, and the claims if they do not stand there yet.
func (m *mainTable) finish(found report.Tallies) {
	m.found = found
	for len(m.lines) > 0 {
		m.next()
	}
	if m.below && len(m.printed) > 0 {
		_, _ = fmt.Fprintln(m.out)
		printTable(m.out, tableOf(m.printed, claimants, func(l debateLine) []string { return l.claimed(claimWidth) }))
	}
}

// live has the lines of the main table printed while the scenarios are run.
func (d *debate) live(out io.Writer) func([]fittingTask) func(runner.Tally) {
	return func(fit []fittingTask) func(runner.Tally) {
		runs := map[string]int{}
		for _, t := range fit {
			runs[t.Scenario.Name] = t.Runs
		}
		d.main = d.newMainTable(out, func(l debateLine) []string { return d.widest(l, runs) })
		for name := range runs {
			d.main.open[name] = true
		}
		return d.main.settled
	}
}

// widest returns cells as wide as results as expected of so many runs of each scenario.
func (d *debate) widest(l debateLine, runs map[string]int) []string {
	most := 0
	for _, name := range l.of {
		most = max(most, runs[name])
	}
	switch {
	case most == 0:
		return nil
	case l.series != nil:
		return []string{report.WidestShort(*l.series), summary.ShownText(len(l.of), len(l.of), runner.AsExpected), ""}
	}
	s := l.rowOf.Scenario
	s.Expect = nil
	cells := []string{summary.Signs(runner.NewTally(s)), summary.ShownText(most, most, runner.AsExpected), ""}
	if d.losses != nil {
		cells = append(cells, widestLoss)
	}
	return cells
}

// printMain prints the main table, or what is left of it.
func (d *debate) printMain(out io.Writer) {
	if d.main == nil {
		d.main = d.newMainTable(out, func(l debateLine) []string { return l.cells(d.found, d.whole()) })
	}
	d.main.finish(d.found)
}
