package report

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Campaign adds what a sweep has found: in sentences, pictures and tables.
func (r *Report) Campaign(found sweep.Results) error {
	blocks := []document.Block{document.Prose("What is swept: " + strings.TrimSuffix(found.Summary, ".") + ".")}
	if !found.Complete() {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: fmt.Sprintf("Not complete: %d of %s measured.", len(found.Outcomes), textfmt.Count(found.Units(), "point"))})
	}
	if s := found.Shard; s.Of > 0 {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: fmt.Sprintf("This is shard %s alone.", s)})
	}
	mark := document.Good
	if !found.Fit().Good() {
		mark = document.Bad
	}
	for _, l := range CampaignLines(found) {
		blocks = append(blocks, document.Notice{Mark: mark, Text: l})
	}
	var about document.Facts
	for _, p := range found.Params {
		about = append(about, document.Fact{Name: p.Head(), Value: p.Summary})
	}
	about = append(about, document.Fact{Name: "counted", Value: fmt.Sprintf("the runs in which %s (%s) is violated", found.Property.Title(), found.Property.Code())})
	blocks = append(blocks, about)
	if len(found.Outcomes) > 0 {
		pictures, err := CampaignPictures(found)
		if err != nil {
			return err
		}
		for _, p := range pictures {
			figure, err := figureOf(p.Chart)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			blocks = append(blocks, figure)
		}
	}
	for _, c := range CampaignCurves(found.Points()) {
		blocks = append(blocks, document.Fold{Summary: "every point: " + c.Name, Blocks: []document.Block{tableOf(PointsTable(found, c.Outcomes, true), outside)}})
	}
	for _, c := range CampaignCurves(found.Boundaries()) {
		blocks = append(blocks, document.Fold{Summary: "every boundary: " + c.Name, Blocks: []document.Block{tableOf(BoundariesTable(found, c.Outcomes), outside)}})
	}
	title := "Sweep: " + found.Sweep
	if found.Backend != r.options.Simulator.Name {
		title += " on " + found.Backend
	}
	r.Add(title, blocks...)
	r.made(fmt.Sprintf("The sweep %s, %s a point, seeds from %d on", found.Sweep, textfmt.Count(found.Runs, "run"), found.First), found.Versions, SweepCommand(found.Head))
	return nil
}

// outside marks what does not fit a formula.
func outside(column, text string) document.Mark {
	switch {
	case column != "inside" && column != "met":
		return document.Plain
	case text == "no":
		return document.Bad
	case text == "left open":
		return document.Open
	}
	return document.Plain
}

// figureOf is a chart on a page.
func figureOf(c plots.Chart) (document.Figure, error) {
	svg, err := plots.Page(c)
	head, rows := plots.Data(c)
	data := tableOf(&textfmt.Table{Head: head, Lines: rows}, nil)
	return document.Figure{
		SVG: svg, Caption: plots.Title(c), Data: &data,
		Needs: []document.Assets{{Name: "plots", Style: plots.PageStyle()}},
	}, err
}
