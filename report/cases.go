package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/hunt/cases"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/report/account"
	"github.com/lockstorm/lockstorm/report/document"
	"github.com/lockstorm/lockstorm/storm"
)

// Kept is a case, where it is, and what whoever found it has to say of it.
type Kept struct {
	cases.Case
	Path  string // its file; empty: none is kept
	Says  string // as in "a limit: fault 1: …"; empty: nothing
	Title string
}

// LoadCase loads the case in a file.
func LoadCase(path string) (Kept, error) {
	c, err := cases.Load(path)
	return Kept{Case: c, Path: path, Title: path}, err
}

// Cases adds cases: a table of all, and all there is to say of each. Each is run again in
// the simulator, so that its history is there and one sees whether it still shows what it
// says.
func (r *Report) Cases(ctx context.Context, list []Kept) error {
	t := document.Table{Columns: document.Named("case", "property", "shows", "now", "faults", "clients", "nodes", "what it means")}
	var details []document.Block
	for _, k := range list {
		subject, err := Replayed(ctx, r.options.Simulator, k.Scenario, k.Seed, k.again())
		if err != nil {
			return fmt.Errorf("%s: %w", k.Title, err)
		}
		subject.Title = k.Title
		result := storm.Result{Report: subject.Run.Report, Interrupted: subject.Run.Cut}
		conclusion := k.Judge(result)
		id := r.anchor("case", k.Title)
		now := subject.Run.Report.Finding(k.Property).Verdict
		t.Add(document.Cell{Text: k.Title, Link: "#" + id}, document.Text(k.Property.Code()+" "+k.Property.Title()), document.Text(account.Sign(k.Shows)+" "+k.Shows.String()),
			document.Cell{Text: account.Sign(now) + " " + now.String(), Mark: markOf(conclusion)},
			document.Count(len(k.Scenario.Plan)), document.Count(len(k.Scenario.Clients)), document.Count(k.Scenario.Nodes), document.Text(account.Dash(k.Says)))
		blocks, err := k.blocks(subject, conclusion)
		if err != nil {
			return err
		}
		details = append(details, document.Fold{ID: id, Summary: k.Title + ": " + k.Property.Title(), Blocks: blocks})
	}
	r.section("Cases", append([]document.Block{document.Prose(words.Count(len(list), "case") + ", each run again for this page."), t}, details...)...)
	return nil
}

// again is the command that repeats the case.
func (k Kept) again() string {
	if k.Path == "" {
		return ""
	}
	return "lockstorm replay " + k.Path
}

// blocks is all there is to say of a case.
func (k Kept) blocks(s Subject, conclusion storm.Conclusion) ([]document.Block, error) {
	f := s.Run.Report.Finding(k.Property)
	blocks := []document.Block{document.Notice{Mark: markOf(conclusion), Text: fmt.Sprintf("The case says that %s is %v, and it is %v.", k.Property.Title(), k.Shows, f.Verdict)}}
	if k.Says != "" {
		blocks = append(blocks, document.Prose(words.Sentence(k.Says)+"."))
	}
	if k.Notes != "" {
		blocks = append(blocks, document.Prose("Notes: "+strings.TrimSpace(k.Notes)))
	}
	if k.Story != "" && k.Story != f.Story {
		blocks = append(blocks, document.Prose("The case tells it so: "+k.Story))
	}
	drawn, err := caseBlocks(s)
	return append(blocks, drawn...), err
}

// caseBlocks is all there is to say of the run of a case. A case is small: the diagram of
// its messages is drawn here, before the rest.
func caseBlocks(s Subject) ([]document.Block, error) { return runBlocks(s) }
