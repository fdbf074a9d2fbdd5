package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/verdicts"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Claimants are the voices of the debate, as the heads of columns.
func Claimants() (heads []string) {
	for _, v := range scenarios.Voices(nil) {
		heads = append(heads, v.Name)
	}
	return heads
}

// Claimed is what each of them says of a row; "–": nothing.
func Claimed(claims []scenarios.Claim) (cells []string) {
	for _, v := range scenarios.Voices(claims) {
		cells = append(cells, textfmt.Dash(v.Says()))
	}
	return cells
}

// debatePage is a page of a debate.
type debatePage struct {
	*Report
	Debate
	agreement  Agreement
	ids        map[string]string // anchors of rows and series
	witnessIDs map[string]string // anchors of the rows' witnesses
}

// scoreboard adds the matrix of all rows.
func (b *debatePage) scoreboard() {
	m := verdicts.Matrix{First: "row", Claimants: Claimants(), Shares: true, Columns: b.columns(), Filters: true}
	for _, topic := range b.Topics {
		rows := b.rowsOf(topic)
		if len(rows) > 0 && len(b.Topics) > 1 {
			m.Rows = append(m.Rows, verdicts.Row{Heading: true, Name: topic.Name})
		}
		m.Rows = append(m.Rows, rows...)
	}
	blocks := []document.Block{b.headline()}
	if b.Stopped {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: stoppedNote})
	}
	b.Add("Scoreboard", append(append(blocks, verdicts.Legend{}, m), b.obsoleteReasons()...)...)
}

// rowsOf returns the rows of a topic that have results, each followed by its variants, and the series.
func (b *debatePage) rowsOf(topic scenarios.Topic) (rows []verdicts.Row) {
	var known []ComparedRow
	for _, row := range b.agreement.Rows {
		if row.Topic == topic.Name && b.ids[row.Name] != "" {
			known = append(known, row)
		}
	}
	for _, row := range known {
		of := func(r ComparedRow) bool { return r.Name == row.VariantOf }
		if row.VariantOf != "" && slices.ContainsFunc(known, of) {
			continue // it follows that row
		}
		rows = append(rows, b.matrixRow(row))
		for _, variant := range known {
			if variant.VariantOf == row.Name {
				rows = append(rows, b.matrixRow(variant))
				rows[len(rows)-1].Variant = true
			}
		}
	}
	for _, s := range topic.Series {
		if b.ids[SeriesName(s)] != "" {
			rows = append(rows, b.seriesRow(s))
		}
	}
	return rows
}

// columns are those behind the verdicts and shares of the first side: the agreement of each other
// side, and the run.
func (b *debatePage) columns() (all []document.Column) {
	for _, s := range b.Sides[1:] {
		all = append(all, document.Column{Name: "on " + s.Name, Help: "whether each property got the same verdict as on " + b.Sides[0].Name})
	}
	return append(all, document.Column{Name: "run", Help: "the first run with the expected verdicts, or the first that contradicts them"})
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
		text := fmt.Sprintf("%d of %d rows", rows.good, rows.all)
		if series.all > 0 {
			text += fmt.Sprintf(" and %d of %d series", series.good, series.all)
		}
		ofRows, ofValues := b.extents(s)
		parts = append(parts, text+" on "+s.Name+ofRows.text("row")+ofValues.text("value of a series"))
	}
	return document.Notice{Mark: summary.MarkOf(summary.Worst(all)), Text: "As expected: " + strings.Join(parts, "; ") + "."}
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

// claimsOf are the claims of all voices, each with its sources and a link to the first.
func claimsOf(claims []scenarios.Claim) (all []verdicts.Claim) {
	for _, v := range scenarios.Voices(claims) {
		cell := verdicts.Claim{Text: v.Says()}
		var sources []string
		for i, c := range v.Claims {
			sources = append(sources, c.Article())
			if i == 0 {
				cell.URL = c.Link()
			}
		}
		cell.Source = strings.Join(sources, "; ")
		all = append(all, cell)
	}
	return all
}

// matrixRow is a row of the scoreboard.
func (b *debatePage) matrixRow(row ComparedRow) verdicts.Row {
	r := verdicts.Row{
		Name: row.Name, Link: "#" + b.ids[row.Name], Summary: row.Summary,
		Claims: claimsOf(row.Claims),
	}
	t, known := b.Sides[0].Found[row.Name]
	for _, p := range checker.Properties() {
		v := verdicts.Verdict{Property: p}
		if known {
			v.Found = t.Observed(p)
			v.Expected, _ = t.Scenario.Expect.Want(p)
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	if known {
		r.Shares = sharesOf(t)
	}
	for _, c := range row.Cells[1:] {
		r.Cells = append(r.Cells, agreementCell(c))
	}
	r.Cells = append(r.Cells, b.runCell(row.Name, t))
	return r
}

// sharesOf are the shares of the violated properties or, if none is violated, what as many runs
// without a violation show.
func sharesOf(t runner.Tally) []summary.Share {
	all := summary.Rates(t)
	if len(all) == 1 {
		all[0].Codes = nil // the signs tell
	}
	if len(all) > 0 {
		return all
	}
	var clean runner.Rate
	for _, p := range checker.Properties() {
		if rate := t.Rate(p); rate.N > clean.N {
			clean = rate
		}
	}
	if clean.N == 0 {
		return nil
	}
	return []summary.Share{{Rate: clean}}
}

// runCell is the seed of a row's witness. It leads to the run, if the page shows it, and otherwise to
// the row's section, which has its command.
func (b *debatePage) runCell(row string, t runner.Tally) document.Cell {
	seed := summary.Witness(t)
	if seed == "–" {
		return document.Text(seed)
	}
	c := document.Number(float64(t.Witness), "seed "+seed)
	c.Link = "#" + b.ids[row]
	if id := b.witnessIDs[row]; id != "" {
		c.Link = "#" + id
	}
	return c
}

// agreementCell says how another side compares with the first.
func agreementCell(c Cell) document.Cell {
	var differs strings.Builder
	for _, d := range c.Differences {
		differs.WriteString(" " + d.Code())
	}
	switch c.ComparisonStatus {
	case Agrees:
		return document.Text("= the same")
	case Differs:
		return document.Text("≠" + differs.String() + ", explained")
	case Unexplained:
		return document.Cell{Text: "≠" + differs.String(), Mark: document.Bad}
	case Refused:
		return document.Text(c.Short())
	}
	return document.Cell{Text: c.Short(), Mark: document.Open}
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

// seriesRow is a series on the scoreboard: of its property, whether some value violates it.
func (b *debatePage) seriesRow(series scenarios.Series) verdicts.Row {
	name := SeriesName(series)
	c := b.Sides[0].Found.Curve(series)
	r := verdicts.Row{Name: name, Link: "#" + b.ids[name], Summary: series.Summary, Claims: claimsOf(series.Claims)}
	for _, p := range checker.Properties() {
		r.Verdicts = append(r.Verdicts, c.verdict(p))
	}
	if len(c.Tallies) > 0 {
		r.Trend = &verdicts.Trend{Text: c.Short(), Link: "#" + b.ids[name]}
		for i, t := range c.Tallies {
			r.Trend.Points = append(r.Trend.Points, verdicts.Point{Value: c.Values[i], Share: summary.Share{Rate: t.Rate(c.Property)}})
		}
	}
	for range b.Sides[1:] {
		r.Cells = append(r.Cells, document.Text("not compared"))
	}
	run := document.Text("–")
	if worst := summary.Worst(c.Tallies); len(c.Tallies) > 0 && worst != runner.AsExpected {
		run = document.Cell{Text: worst.String(), Mark: summary.MarkOf(worst), Link: "#" + b.ids[name]}
	}
	r.Cells = append(r.Cells, run)
	return r
}

// verdict says of the property of a series whether some value violates it.
func (c Curve) verdict(p checker.Property) verdicts.Verdict {
	v := verdicts.Verdict{Property: p}
	switch {
	case p != c.Property || len(c.Tallies) == 0:
	case len(c.broken()) > 0:
		v.Found = checker.Violated
	case c.open() != "":
		v.Found = checker.Unknown
	default:
		v.Found = checker.Holds
	}
	return v
}
