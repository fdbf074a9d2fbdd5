package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/show/sequence"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
)

// SavedCase is a case, its file, and remarks by the search that found it.
type SavedCase struct {
	cases.Case
	Path   string // file; "": it is not saved
	Remark string // as in "a limit: fault 1: …"; may be empty
	Title  string

	// Inevitable is how the violation became inevitable; nil: that was not asked for.
	Inevitable *inevitable.Analysis
}

// LoadCase loads the case in a file.
func LoadCase(path string) (SavedCase, error) {
	c, err := cases.Load(path)
	return SavedCase{Case: c, Path: path, Title: TitleOf([]string{path})}, err
}

// Cases adds cases: a table of all, and a section for each. Each is run again in the simulator,
// for its history, and to check whether it still shows the same.
func (r *Report) Cases(ctx context.Context, list []SavedCase) error {
	t := document.Table{Columns: document.Named("case", "property", "shows", "now", "faults", "clients", "nodes", "what it means")}
	var details []document.Block
	for _, k := range list {
		shown, tr, err := k.replayed(ctx, r.options.Simulator)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Title, err)
		}
		shown.Title, shown.Inevitable = k.Title, k.Inevitable
		result := runner.Result{Report: shown.Run.Report, Interrupted: shown.Run.Cut}
		conclusion := k.Judge(result)
		id := r.Anchor("case", k.Title)
		now := shown.Run.Report.Finding(k.Property).Verdict
		t.Add(document.Cell{Text: k.Title, Link: "#" + id}, document.Text(k.Property.Code()+" "+k.Property.Title()), document.Text(summary.Sign(k.Shows)+" "+k.Shows.String()),
			document.Cell{Text: summary.Sign(now) + " " + now.String(), Mark: summary.MarkOf(conclusion)},
			document.Count(len(k.Scenario.Plan)), document.Count(len(k.Scenario.Clients)), document.Count(k.Scenario.Nodes), document.Text(textfmt.Dash(k.Remark)))
		blocks, err := r.caseBlocks(k, shown, tr, conclusion)
		if err != nil {
			return err
		}
		details = append(details, document.Fold{ID: id, Summary: k.Title + ": " + k.Property.Title(), Open: len(list) == 1, Blocks: blocks})
	}
	r.Add("Cases", append([]document.Block{document.Prose(textfmt.Count(len(list), "case") + ", each run again for this page."), t}, details...)...)
	return nil
}

// replayed runs the case again, and returns its trace.
func (k SavedCase) replayed(ctx context.Context, simulator runner.Backend) (runpage.Shown, *trace.Trace, error) {
	e, err := runner.Prepare(simulator, k.Scenario)
	if err != nil {
		return runpage.Shown{}, nil, err
	}
	e, tr := trace.Of(e.WithCourse(k.Course))
	s, err := runpage.Replayed(ctx, e, k.Seed, k.command())
	return s, tr, err
}

// command is the command line that repeats the case.
func (k SavedCase) command() string {
	if k.Path == "" {
		return ""
	}
	return textfmt.Command("replay", k.Path)
}

// caseBlocks describes a case. A case is small, so its messages are drawn one by one.
func (r *Report) caseBlocks(k SavedCase, s runpage.Shown, tr *trace.Trace, conclusion runner.Conclusion) ([]document.Block, error) {
	f := s.Run.Report.Finding(k.Property)
	blocks := []document.Block{document.Notice{Mark: summary.MarkOf(conclusion), Text: fmt.Sprintf("The case says that %s is %v, and it is %v.", k.Property.Title(), k.Shows, f.Verdict)}}
	if k.Remark != "" {
		blocks = append(blocks, document.Prose(textfmt.Sentence(k.Remark)+"."))
	}
	if k.Notes != "" {
		blocks = append(blocks, document.Prose("Notes: "+strings.TrimSpace(k.Notes)))
	}
	if k.Story != "" && k.Story != f.Story() {
		blocks = append(blocks, document.Prose("Story of the case: "+k.Story))
	}
	d := sequence.Of(tr, f)
	d.Anchor = fmt.Sprintf("case-%d-", r.shown+1)
	blocks = append(blocks, document.Heading("Message by message"), d.Block(), document.Heading("Over time"))
	run, err := r.runBlocks(s)
	return append(blocks, run...), err
}
