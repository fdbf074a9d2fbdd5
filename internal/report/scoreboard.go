package report

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// scoreboard adds the main table.
func (b *debatePage) scoreboard() {
	t := document.Table{Filters: true, Columns: append(document.Named("row", "Kleppmann", "antirez, redis.io"),
		document.Column{Name: "expected", Help: "by the debate: ✗ violated in some run, ✓ kept in all, · nothing to judge"})}
	for _, s := range b.Sides {
		on := ""
		if len(b.Sides) > 1 {
			on = " on " + s.Name
		}
		t.Columns = append(t.Columns, document.Column{Name: "found" + on}, document.Column{Name: "as expected" + on},
			document.Column{Name: "runs" + on, Help: "whose every verdict was the expected one, of all"},
			document.Column{Name: "violated" + on, Help: "in how many of the runs in which it could be decided, with the 95 % interval of Wilson, in percent"},
			document.Column{Name: "witness" + on, Help: "the seed of the first run that shows it, or that contradicts"})
	}
	if len(b.Sides) > 1 {
		t.Columns = append(t.Columns, document.Column{Name: "agreement", Help: "with " + b.Sides[0].Name + ": whether each property got the same verdict"})
	}
	t.Columns = append(t.Columns, document.Column{Name: "remark"})
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
	blocks = append(blocks, t, document.Prose(SignLegend+". "+Codes()+"."), document.Prose(strings.ReplaceAll(ShownLegend, "\n", " ")))
	b.Add("Scoreboard", append(blocks, b.obsoleteReasons()...)...)
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
	return document.Notice{Mark: markOf(Worst(all)), Text: strings.Join(parts, "; ") + "."}
}

// score counts what is as expected.
type score struct{ good, all int }

// add counts one row or series.
func (s *score) add(runs ...runner.Tally) {
	s.all++
	if Worst(runs) == runner.AsExpected {
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

// claimCells are the first cells of a row.
func (b *debatePage) claimCells(name string, c scenarios.Claims) []document.Cell {
	return []document.Cell{{Text: name, Link: "#" + b.ids[name]}, document.Text(textfmt.Dash(c.Kleppmann)), document.Text(textfmt.Dash(c.Antirez))}
}

// rowCells is a row of the scoreboard.
func (b *debatePage) rowCells(row ComparedRow) []document.Cell {
	cells := append(b.claimCells(row.Name, row.Claims), document.Text(grouped(func(p checker.Property) (checker.Verdict, bool) {
		v, said := row.Expect[p]
		return v, said
	})))
	for i, s := range b.Sides {
		t, known := s.Found[row.Name]
		if !known {
			why := "not run"
			if c := row.Cells[i]; c.ComparisonStatus == Refused {
				why = "cannot be run"
			}
			cells = append(cells, document.Text(why), document.Text("–"), document.Text("–"), document.Text("–"), document.Text("–"))
			continue
		}
		cells = append(cells, foundCell(t), document.Cell{Text: asExpected(t.Conclusion()), Mark: markOf(t.Conclusion())},
			cellOf(fmt.Sprintf("%d/%d", t.Shown, t.Runs)), document.Text(shares(t)), b.witnessCell(i, row.Name, t))
	}
	if len(b.Sides) > 1 {
		cells = append(cells, agreementCell(row))
	}
	return append(cells, document.Text(textfmt.Dash(scenarios.Remark(row.Name))))
}

// asExpected is a conclusion as an answer to "as expected?".
func asExpected(c runner.Conclusion) string {
	if c == runner.AsExpected {
		return "yes"
	}
	return c.String()
}

// foundCell has the verdicts over all runs, and the unexpected ones.
func foundCell(t runner.Tally) document.Cell {
	text := grouped(func(p checker.Property) (checker.Verdict, bool) {
		v := t.Observed(p)
		_, said := t.Scenario.Expect[p]
		return v, v != checker.NotApplicable || said
	})
	c := document.Text(text)
	for _, p := range checker.Properties() {
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != t.Observed(p) {
			c.Text += fmt.Sprintf("; %s was expected to be %s", p.Code(), Sign(want))
			c.Mark = markOf(t.Conclusion())
		}
	}
	return c
}

// shares says how often each property was violated.
func shares(t runner.Tally) string {
	var parts []string
	for _, g := range Rates(t) {
		parts = append(parts, fmt.Sprintf("%s %s, %s %s", strings.Join(g.Codes, " "), g.Rate, g.Rate.Percent(), g.Rate.Interval()))
	}
	return textfmt.Dash(strings.Join(parts, "; "))
}

// witnessCell is the seed of a row's witness, with a link to it.
func (b *debatePage) witnessCell(side int, row string, t runner.Tally) document.Cell {
	c := cellOf(Witness(t))
	if c.Text == "–" {
		return c
	}
	c.Link = "#" + b.ids[row]
	if id := b.witnessIDs[row]; side == 0 && id != "" {
		c.Link = "#" + id
	}
	return c
}

// agreementCell says how the other sides compare with the first, and why they differ.
func agreementCell(row ComparedRow) document.Cell {
	var cell document.Cell
	var parts []string
	for i, c := range row.Cells {
		if i == 0 {
			continue
		}
		text := c.Short()
		for _, d := range c.Differences {
			reason := d.Reason
			if reason == "" {
				reason = "no reason is known"
			}
			text += fmt.Sprintf("; %s %s, and %s there: %s", d.Code(), d.Here, d.There, reason)
		}
		if c.Refusal != nil {
			text += ": " + c.Refusal.Error()
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

// seriesCells is a series on the scoreboard.
func (b *debatePage) seriesCells(series scenarios.Series) []document.Cell {
	name := SeriesName(series)
	cells := append(b.claimCells(name, series.Claims), document.Text("–"))
	for _, s := range b.Sides {
		c := s.Found.Curve(series)
		if len(c.Tallies) == 0 {
			cells = append(cells, document.Text("not run"), document.Text("–"), document.Text("–"), document.Text("–"), document.Text("–"))
			continue
		}
		worst := Worst(c.Tallies)
		count, _, _ := strings.Cut(c.Showing(), " ")
		cells = append(cells, document.Text(c.Short()), document.Cell{Text: asExpected(worst), Mark: markOf(worst)},
			cellOf(count), document.Cell{Text: "by value", Link: "#" + b.ids[name]}, document.Text("–"))
	}
	if len(b.Sides) > 1 {
		cells = append(cells, document.Text("not compared: series"))
	}
	return append(cells, document.Text(textfmt.Dash(scenarios.Remark(series.Name))))
}
