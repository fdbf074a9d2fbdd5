package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// scoreboard adds the main table.
func (b *debatePage) scoreboard() {
	t := document.Table{Filters: true, Columns: b.columns()}
	heading := ""
	head := func(topic string) {
		if topic != heading && len(b.Topics) > 1 {
			heading = topic
			t.Head(topic)
		}
	}
	for _, topic := range b.Topics {
		for _, row := range b.agreement.Rows {
			if row.Topic == topic.Name && b.ids[row.Name] != "" {
				head(topic.Name)
				t.Add(b.rowCells(row)...)
			}
		}
		for _, s := range topic.Series {
			if b.ids[SeriesName(s)] != "" {
				head(topic.Name)
				t.Add(b.seriesCells(s)...)
			}
		}
	}
	blocks := []document.Block{b.headline()}
	if b.Stopped {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: stoppedNote})
	}
	legend := document.Fold{Summary: "what the signs and codes mean", Blocks: []document.Block{
		document.Prose(summary.SignLegend + ". " + summary.Codes() + "."), document.Prose(strings.ReplaceAll(summary.ShownLegend, "\n", " ")),
	}}
	blocks = append(blocks, legend, t)
	b.Add("Scoreboard", append(blocks, b.obsoleteReasons()...)...)
}

// columns are those of the scoreboard: for each row the verdicts on the first side, a column for
// each property, and then the other sides and the claims.
func (b *debatePage) columns() []document.Column {
	all := document.Named("row")
	for i, s := range b.Sides {
		on := ""
		if len(b.Sides) > 1 {
			on = " on " + s.Name
		}
		if i == 0 {
			for _, p := range checker.Properties() {
				all = append(all, document.Column{Name: p.Code(), Help: p.Title() + on, Narrow: true})
			}
		} else {
			all = append(all, document.Column{Name: "found" + on})
		}
		all = append(all,
			document.Column{Name: "as expected" + on, Help: "runs whose every verdict was the expected one, of all"},
			document.Column{Name: "violated" + on, Help: "in how many of the runs in which it could be decided, with the 95 % interval of Wilson, in percent"},
			document.Column{Name: "witness" + on, Help: "the seed of the first run that shows it, or that contradicts"})
		if i == 0 && len(b.Sides) > 1 {
			all = append(all, document.Column{Name: "agreement", Help: "of the others with " + s.Name + ": whether each property got the same verdict"})
		}
	}
	return append(all, document.Named("Kleppmann", "antirez, redis.io")...)
}

// headline counts the rows and series that are as expected on each side.
func (b *debatePage) headline() document.Block {
	var parts []string
	var all []runner.Tally
	for _, s := range b.Sides {
		var rows, series score
		for _, row := range b.agreement.Rows {
			if t, known := s.Found[row.Name]; known {
				rows.add(t)
				all = append(all, t)
			}
		}
		for _, topic := range b.Topics {
			for _, one := range topic.Series {
				if c := s.Found.Curve(one); len(c.Tallies) > 0 {
					series.add(c.Tallies...)
					all = append(all, c.Tallies...)
				}
			}
		}
		text := fmt.Sprintf("on %s %d of %d rows", s.Name, rows.good, rows.all)
		if series.all > 0 {
			text += fmt.Sprintf(" and %d of %d series", series.good, series.all)
		}
		parts = append(parts, text+" are as expected")
	}
	return document.Notice{Mark: summary.MarkOf(summary.Worst(all)), Text: strings.Join(parts, "; ") + "."}
}

// score counts what is as expected.
type score struct{ good, all int }

// add counts one row or series.
func (s *score) add(runs ...runner.Tally) {
	s.all++
	if summary.Worst(runs) == runner.AsExpected {
		s.good++
	}
}

// obsoleteReasons reports reasons for differences that do not exist.
func (b *debatePage) obsoleteReasons() (blocks []document.Block) {
	if len(b.Sides) < 2 {
		return nil
	}
	for _, d := range b.agreement.Obsolete {
		blocks = append(blocks, document.Notice{Mark: document.Bad, Text: fmt.Sprintf("Obsolete reason, as there is no difference: %s, %s on %s: %s", d.Row, d.Property.Code(), d.Backend, d.Reason)})
	}
	return blocks
}

// nameCell is the first cell of a row. It links to the section of the row.
func (b *debatePage) nameCell(name string) document.Cell {
	return document.Cell{Text: name, Link: "#" + b.ids[name]}
}

// claimCells are the last cells of a row.
func claimCells(c scenarios.Claims) []document.Cell {
	return []document.Cell{document.Text(textfmt.Dash(c.Kleppmann)), document.Text(textfmt.Dash(c.Antirez))}
}

// rowCells is a row of the scoreboard.
func (b *debatePage) rowCells(row ComparedRow) []document.Cell {
	cells := []document.Cell{b.nameCell(row.Name)}
	for i, s := range b.Sides {
		if i == 1 {
			cells = append(cells, agreementCell(row))
		}
		t, known := s.Found[row.Name]
		if !known {
			why := "not run"
			if c := row.Cells[i]; c.ComparisonStatus == Refused {
				why = "cannot be run"
			}
			cells = append(cells, notRun(i, why)...)
			continue
		}
		if i == 0 {
			cells = append(cells, signCells(t)...)
		} else {
			cells = append(cells, foundCell(t))
		}
		cells = append(cells, shownCell(t.Shown, t.Runs, t.Conclusion()), document.Text(shares(t)), b.witnessCell(i, row.Name, t))
	}
	return append(cells, claimCells(row.Claims)...)
}

// notRun are the cells of a side without results.
func notRun(side int, why string) []document.Cell {
	verdicts := 1
	if side == 0 {
		verdicts = len(checker.Properties())
	}
	cells := slices.Repeat([]document.Cell{document.Text("–")}, verdicts)
	return append(cells, document.Text(why), document.Text("–"), document.Text("–"))
}

// signCells has a verdict for each property. Where another one was expected, that one follows in
// brackets.
func signCells(t runner.Tally) (cells []document.Cell) {
	for _, p := range checker.Properties() {
		observed := t.Observed(p)
		c := document.Cell{Text: summary.Sign(observed)}
		want, wanted := t.Scenario.Expect.Want(p)
		switch {
		case wanted && want != observed:
			c.Text += summary.NoBreak + "(" + summary.Sign(want) + ")"
			c.Mark = summary.MarkOf(t.Conclusion())
		case observed == checker.Violated:
			c.Mark = document.Known
		}
		cells = append(cells, c)
	}
	return cells
}

// shownCell says how many runs, or values of a series, are as expected.
func shownCell(shown, runs int, o runner.Conclusion) document.Cell {
	c := document.CellOf(summary.ShownText(shown, runs, o))
	c.Mark = summary.MarkOf(o)
	return c
}

// foundCell has the verdicts over all runs, and the unexpected ones.
func foundCell(t runner.Tally) document.Cell {
	text := summary.Grouped(func(p checker.Property) (checker.Verdict, bool) {
		v := t.Observed(p)
		_, said := t.Scenario.Expect[p]
		return v, v != checker.NotApplicable || said
	})
	c := document.Text(text)
	for _, p := range checker.Properties() {
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != t.Observed(p) {
			c.Text += fmt.Sprintf("; %s was expected to be %s", p.Code(), summary.Sign(want))
			c.Mark = summary.MarkOf(t.Conclusion())
		}
	}
	return c
}

// shares says how often each property was violated.
func shares(t runner.Tally) string {
	var parts []string
	for _, g := range summary.Rates(t) {
		parts = append(parts, fmt.Sprintf("%s %s, %s %s", strings.Join(g.Codes, " "), g.Rate, g.Rate.Percent(), g.Rate.Interval()))
	}
	return textfmt.Dash(strings.Join(parts, "; "))
}

// witnessCell is the seed of a row's witness, with a link to it.
func (b *debatePage) witnessCell(side int, row string, t runner.Tally) document.Cell {
	c := document.CellOf(summary.Witness(t))
	if c.Text == "–" {
		return c
	}
	c.Link = "#" + b.ids[row]
	if id := b.witnessIDs[row]; side == 0 && id != "" {
		c.Link = "#" + id
	}
	return c
}

// agreementCell says how the other sides compare with the first.
func agreementCell(row ComparedRow) document.Cell {
	var cell document.Cell
	var parts []string
	for _, c := range row.Cells[1:] {
		text := c.Short()
		for _, d := range c.Differences {
			text += " " + d.Code()
		}
		switch c.ComparisonStatus {
		case Unexplained:
			cell.Mark = document.Bad
		case TooSlow, NotRun:
			cell.Mark = document.Open
		case Agrees:
			cell.Mark = document.Good
		}
		parts = append(parts, text)
	}
	cell.Text = strings.Join(parts, "; ")
	return cell
}

// disagreement says how a side differs from the first, and why; "": it does not.
func disagreement(c Cell) string {
	var parts []string
	for _, d := range c.Differences {
		reason := d.Reason
		if reason == "" {
			reason = "no reason is known"
		}
		parts = append(parts, fmt.Sprintf("%s %s, and %s there: %s", d.Code(), d.Here, d.There, reason))
	}
	if c.Refusal != nil {
		parts = append(parts, c.Refusal.Error())
	}
	return strings.Join(parts, "; ")
}

// seriesCells is a series on the scoreboard: of its property, whether some value violates it.
func (b *debatePage) seriesCells(series scenarios.Series) []document.Cell {
	name := SeriesName(series)
	cells := []document.Cell{b.nameCell(name)}
	for i, s := range b.Sides {
		if i == 1 {
			cells = append(cells, document.Text("not compared: series"))
		}
		c := s.Found.Curve(series)
		if len(c.Tallies) == 0 {
			cells = append(cells, notRun(i, "not run")...)
			continue
		}
		if i == 0 {
			for _, p := range checker.Properties() {
				cells = append(cells, c.signCell(p))
			}
		} else {
			cells = append(cells, document.Text(c.Short()))
		}
		worst := summary.Worst(c.Tallies)
		good, _, _ := strings.Cut(c.Showing(), " ")
		count := document.CellOf(good)
		if worst != runner.AsExpected {
			count.Text += " " + worst.String()
		}
		count.Mark = summary.MarkOf(worst)
		cells = append(cells, count, document.Cell{Text: c.Short(), Link: "#" + b.ids[name]}, document.Text("–"))
	}
	return append(cells, claimCells(series.Claims)...)
}

// signCell says of the property of a series whether some value violates it.
func (c Curve) signCell(p checker.Property) document.Cell {
	switch {
	case p != c.Property:
		return document.Text("–")
	case len(c.broken()) > 0:
		return document.Cell{Text: summary.Sign(checker.Violated), Mark: document.Known}
	case c.open() != "":
		return document.Text(summary.Sign(checker.Unknown))
	}
	return document.Text(summary.Sign(checker.Holds))
}
