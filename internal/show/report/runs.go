package report

import (
	"fmt"

	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Runs adds runs of any scenarios: a single one with all details; several as a table, with all
// details of the first ones with violations.
func (r *Report) Runs(list []runpage.Shown) error {
	if len(list) == 0 { // stopped before the first
		r.Add("Runs", document.Prose("There is no run."))
		return nil
	}
	if len(list) == 1 {
		messages, err := list[0].Messages(r.options.Simulator)
		if err != nil {
			return err
		}
		blocks, err := r.runBlocks(list[0], messages...)
		if err != nil {
			return err
		}
		r.Add("The run: "+list[0].Title, blocks...)
		r.addFoot("The run", list[0].Run.Versions, list[0].Command)
		return nil
	}
	shown := map[int]string{} // anchors
	for i, s := range list {
		if len(shown) < r.options.MaxDetails && s.Violates() {
			shown[i] = r.Anchor("run", s.Title)
		}
	}
	t := document.Table{Columns: document.Named("run", "seed", "found", "as expected", "grants", "again"), Filters: true}
	violating := 0
	var details []document.Block
	for i, s := range list {
		name := document.Text(s.Title)
		if s.Violates() {
			violating++
		}
		if id := shown[i]; id != "" {
			name.Link = "#" + id
			blocks, err := r.runBlocks(s)
			if err != nil {
				return err
			}
			details = append(details, document.Fold{ID: id, Summary: s.Title, Blocks: blocks})
		}
		grants := document.Count(s.Run.Report.Measurements.Grants)
		if s.Slipped() {
			grants = document.Text("–") // like the verdicts, they show nothing
		}
		t.Add(name, document.Number(float64(s.Run.Seed), fmt.Sprint(s.Run.Seed)), document.Text(s.Verdicts()),
			s.Outcome(), grants, document.Text(textfmt.Dash(s.Command)))
	}
	r.Add("Runs", t, document.Prose(summary.SignLegend+". "+summary.Codes()+"."))
	if len(details) > 0 {
		text := "All runs with a violation."
		if violating > len(details) {
			text = fmt.Sprintf("The first %d of %d runs with a violation.", len(details), violating)
		}
		r.Add("Runs with a violation", append([]document.Block{document.Prose(text)}, details...)...)
	}
	r.addFoot("The runs", list[0].Run.Versions, "")
	return nil
}

// runBlocks shows all details of a run. The anchors of the first have no prefix.
func (r *Report) runBlocks(s runpage.Shown, messages ...document.Block) ([]document.Block, error) {
	anchor := ""
	if r.shown++; r.shown > 1 {
		anchor = fmt.Sprintf("run-%d-", r.shown)
	}
	return s.Blocks(anchor, messages...)
}
