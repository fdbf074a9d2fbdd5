package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Debate adds the scoreboard and, for each topic, its rows and series with their results.
func (r *Report) Debate(ctx context.Context, d Debate) error {
	d.Sides = slices.Clone(d.Sides)
	for i := range d.Sides {
		d.Sides[i].Found = fitToBackend(d.Sides[i])
	}
	b := debatePage{r, d, Agree(d.Topics, d.Sides, scenarios.Differences()), map[string]string{}, map[string]string{}}
	b.assignAnchors()
	b.scoreboard()
	for _, t := range d.Topics {
		var blocks []document.Block
		for _, row := range b.agreement.Rows {
			if row.Topic != t.Name || b.ids[row.Name] == "" {
				continue
			}
			fold, err := b.row(ctx, row)
			if err != nil {
				return err
			}
			blocks = append(blocks, fold)
		}
		for _, s := range t.Series {
			if b.ids[SeriesName(s)] != "" {
				blocks = append(blocks, b.series(s))
			}
		}
		if len(blocks) > 0 {
			b.Add(t.Name, blocks...)
		}
	}
	for _, s := range d.Sides {
		b.addFoot("The debate on "+s.Name, s.Versions, b.command(s))
	}
	return nil
}

// fitToBackend returns the results of a side with the scenarios as adapted to its backend: what
// cannot be checked there is not expected.
func fitToBackend(s Side) Tallies {
	found := Tallies{}
	for name, t := range s.Found {
		if e, err := runner.Prepare(s.Backend, t.Scenario); err == nil {
			t.Scenario = e.Scenario()
		}
		found[name] = t
	}
	return found
}

// assignAnchors assigns anchors to the rows and series with results, and to the witnesses that
// are shown: first contradictions, then violations, up to the maximum.
func (b *debatePage) assignAnchors() {
	var first, then []string
	for _, row := range b.agreement.Rows {
		for i, s := range b.Sides {
			t, known := s.Found[row.Name]
			if !known {
				continue
			}
			if b.ids[row.Name] == "" {
				b.ids[row.Name] = b.Anchor("row", row.Name)
			}
			if i > 0 || !b.hasWitness(s, t) {
				continue
			}
			switch {
			case t.Conclusion() != runner.AsExpected:
				first = append(first, row.Name)
			case len(summary.Violated(t)) > 0:
				then = append(then, row.Name)
			}
		}
	}
	for _, name := range append(first, then...) {
		if len(b.witnessIDs) < b.options.MaxDetails {
			b.witnessIDs[name] = b.Anchor("witness", name)
		}
	}
	for _, t := range b.Topics {
		for _, series := range t.Series {
			for _, s := range b.Sides {
				if name := SeriesName(series); len(s.Found.Curve(series).Tallies) > 0 && b.ids[name] == "" {
					b.ids[name] = b.Anchor("row", name)
				}
			}
		}
	}
}

// hasWitness reports whether the history of a row's witness is stored or can be repeated.
func (b *debatePage) hasWitness(s Side, t runner.Tally) bool {
	return t.Shown+t.Against > 0 && (s.Exact || b.StoredRun != nil && b.StoredRun(t.Scenario.Name, s.Name, t.Witness) != "")
}

// row is a section with the setting, results and witness of a row.
func (b *debatePage) row(ctx context.Context, row ComparedRow) (document.Fold, error) {
	fold := document.Fold{ID: b.ids[row.Name], Summary: row.Name + ": " + row.Summary}
	fold.Blocks = append(fold.Blocks, b.setting(row.Claims, row.Scenario))
	for i, s := range b.Sides {
		t, known := s.Found[row.Name]
		why := ""
		if i > 0 {
			why = disagreement(row.Cells[i])
		}
		if len(b.Sides) > 1 && (known || why != "") {
			fold.Blocks = append(fold.Blocks, document.Heading("On "+s.Name))
		}
		if why != "" {
			fold.Blocks = append(fold.Blocks, document.Prose("Compared with "+b.Sides[0].Name+": "+why))
		}
		if !known {
			continue
		}
		mark := summary.MarkOf(t.Conclusion())
		if mark == document.Good && len(summary.Violated(t)) > 0 {
			mark = document.Known
		}
		fold.Blocks = append(fold.Blocks, document.Notice{Mark: mark, Text: fmt.Sprintf("%s in %d runs: %s.", t.Conclusion(), t.Runs, summary.Found(t))})
		if t.Slipped > 0 {
			fold.Blocks = append(fold.Blocks, document.Notice{Mark: document.Open, Text: summary.Slowness(t)})
		}
		for _, story := range summary.Stories(t) {
			fold.Blocks = append(fold.Blocks, document.Prose(fmt.Sprintf("%s %s, seed %d: %s.", story.Property.Code(), story.Property.Title(), story.Seed, story.Text)))
		}
		fold.Blocks = append(fold.Blocks, summary.FiguresOf(t.Measured.Figures()), document.Code(rateCommand(s, row.Name)), document.Code(runCommand(s, row.Name, t.Witness)))
		if i > 0 || b.witnessIDs[row.Name] == "" {
			continue
		}
		witness, err := b.witnessBlock(ctx, s, t)
		if err != nil {
			return fold, err
		}
		fold.Blocks = append(fold.Blocks, witness)
	}
	if text := scenarios.Remark(row.Name); text != "" {
		fold.Blocks = append(fold.Blocks, document.Prose("Remark: "+text))
	}
	return fold, nil
}

// runCommand is the command line that runs a seed of a scenario.
func runCommand(s Side, scenario string, seed uint64) string {
	return textfmt.Command(append(append([]string{"run", scenario}, s.args()...), "--seed", fmt.Sprint(seed))...)
}

// witnessBlock shows the witness of a row: a stored run, or a repeated one.
func (b *debatePage) witnessBlock(ctx context.Context, s Side, t runner.Tally) (document.Block, error) {
	fold := document.Fold{ID: b.witnessIDs[t.Scenario.Name], Summary: fmt.Sprintf("the witness, seed %d", t.Witness)}
	var shown runpage.Shown
	var err error
	dir := ""
	if b.StoredRun != nil {
		dir = b.StoredRun(t.Scenario.Name, s.Name, t.Witness)
	}
	if dir != "" {
		shown, err = runpage.Load(dir)
	} else {
		shown, err = repeated(ctx, s, t)
	}
	if err != nil {
		return nil, err
	}
	if now := shown.Run.TraceHash; t.WitnessTrace != 0 && now != "" && now != results.Hash(t.WitnessTrace) {
		fold.Blocks = append(fold.Blocks, document.Notice{Mark: document.Open, Text: "This run differs from the stored one, because the program or the floating-point arithmetic of the machine differs."})
	}
	blocks, err := b.runBlocks(shown)
	fold.Blocks = append(fold.Blocks, blocks...)
	return fold, err
}

// repeated runs the witness of a row again.
func repeated(ctx context.Context, s Side, t runner.Tally) (runpage.Shown, error) {
	e, err := runner.Prepare(s.Backend, t.Scenario)
	if err != nil {
		return runpage.Shown{}, err
	}
	return runpage.Replayed(ctx, e, t.Witness, runCommand(s, t.Scenario.Name, t.Witness))
}

// setting has the claims with their sources, and the scenario.
func (b *debatePage) setting(claims []scenarios.Claim, s scenarios.Scenario) document.Facts {
	var facts document.Facts
	for _, c := range claims {
		facts = append(facts, document.Fact{Name: fmt.Sprintf("%s, %d", c.By, c.When), Value: c.Says + " (" + c.Source + ")", Link: c.Link()})
	}
	if claims == nil {
		facts = document.Facts{{Name: "Source", Value: ours}}
	}
	return append(facts, summary.FactsOf(summary.Setting(s))...)
}

// ours is the source of a row without claims.
const ours = "this row is ours"

// series is a section with the setting and results of a series.
func (b *debatePage) series(series scenarios.Series) document.Fold {
	name := SeriesName(series)
	fold := document.Fold{ID: b.ids[name], Summary: name + ": " + series.Summary, Blocks: []document.Block{b.setting(series.Claims, series.Points[0].Scenario)}}
	for _, s := range b.Sides {
		c := s.Found.Curve(series)
		if len(c.Tallies) == 0 {
			continue
		}
		if len(b.Sides) > 1 {
			fold.Blocks = append(fold.Blocks, document.Heading("On "+s.Name))
		}
		fold.Blocks = append(fold.Blocks, document.TableOf(c.Table(), nil), document.Prose(c.Threshold()))
		for _, t := range c.Tallies {
			if first, ok := t.First[c.Property]; ok {
				fold.Blocks = append(fold.Blocks, document.Prose("The first violation: "+first.Report.Finding(c.Property).Story()+"."), document.Code(runCommand(s, t.Scenario.Name, first.Seed)))
				break
			}
		}
	}
	fold.Blocks = append(fold.Blocks, document.Prose(strings.ReplaceAll(SeriesLegend, "\n", " ")))
	if text := scenarios.Remark(series.Name); text != "" {
		fold.Blocks = append(fold.Blocks, document.Prose("Remark: "+text))
	}
	return fold
}

// duplicateBackend returns an error if two debates are on one backend.
func duplicateBackend(sides []Side) error {
	seen := map[string]bool{}
	for _, s := range sides {
		if seen[s.Name] {
			return errors.New("two debates on " + s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}
