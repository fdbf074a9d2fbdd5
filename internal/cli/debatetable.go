package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// column is a column of a table that shows results.
type column struct {
	head   string
	row    func(runner.Tally) string
	series func(report.Curve) string
}

// whole is the columns of the main table.
func (d *debate) whole() []column {
	return d.withLosses(
		column{"found", summary.Signs, report.Curve.Short},
		column{"shown", summary.Showing, report.Curve.Showing},
		column{"seed", summary.Witness, none},
	)
}

// short is the columns of the table as Markdown.
func (d *debate) short() []column {
	return d.withLosses(column{"found", outline, report.Curve.Short})
}

// none is the cell of a series in a column that only rows have.
func none(report.Curve) string { return "–" }

// heads returns the heads of columns, after others.
func heads(columns []column, before ...string) []string {
	for _, c := range columns {
		before = append(before, c.head)
	}
	return before
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
			all = append(all, debateLine{topic: topic, name: r.Name, claims: r.Claims})
		}
		for _, s := range t.Series {
			all = append(all, debateLine{topic: topic, name: report.SeriesName(s), claims: s.Claims, series: &s})
		}
	}
	return all
}

// claimed returns the cells with the claims, clipped to a width in characters.
func (l debateLine) claimed(width int) []string {
	return []string{textfmt.Clip(textfmt.Dash(l.claims.Kleppmann), width), textfmt.Clip(textfmt.Dash(l.claims.Antirez), width)}
}

// cells returns the cells with the results, or nil if there are none.
func (l debateLine) cells(found report.Tallies, columns []column) (cells []string) {
	if l.series != nil {
		if curve := found.Curve(*l.series); len(curve.Tallies) > 0 {
			for _, c := range columns {
				cells = append(cells, c.series(curve))
			}
		}
		return cells
	}
	if t, ok := found[l.name]; ok {
		for _, c := range columns {
			cells = append(cells, c.row(t))
		}
	}
	return cells
}

// claimants is the head of the columns with the claims.
var claimants = []string{"Kleppmann", "antirez, redis.io"}

// table has a line for each row and series with results, under their topics. Claims are clipped to a
// width in characters.
func (d debate) table(width int, c []column) *textfmt.Table {
	if d.unclaimed {
		return tableOf(d.lines(), heads(c), func(l debateLine) []string { return l.cells(d.found, c) })
	}
	return tableOf(d.lines(), heads(c, claimants...), func(l debateLine) []string {
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

// printMain prints the main table. On a terminal without room for all columns the claims follow in a table
// of their own.
func (d *debate) printMain(out io.Writer) {
	c := d.whole()
	all := d.table(claimWidth, c)
	if width := lookOn(out).Width; d.unclaimed || width == 0 || all.Width() <= width {
		printTable(out, all)
		return
	}
	lines := slices.DeleteFunc(d.lines(), func(l debateLine) bool { return l.cells(d.found, c) == nil })
	printTable(out, tableOf(lines, heads(c), func(l debateLine) []string { return l.cells(d.found, c) }))
	if len(lines) > 0 {
		_, _ = fmt.Fprintln(out)
		printTable(out, tableOf(lines, claimants, func(l debateLine) []string { return l.claimed(claimWidth) }))
	}
}
