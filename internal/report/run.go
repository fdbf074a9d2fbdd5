package report

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/inevitable"
	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// ShownRun is a run that is shown.
type ShownRun struct {
	Title string // on the page
	Dir   string // where it is stored; may be empty

	// Run is the content of run.json. Of a single history (Bare) it has the header and the
	// verdicts, but no expectations.
	Run  results.Run
	Bare bool

	// History opens the history, uncompressed. It is nil if the history is not stored and the
	// run cannot be repeated.
	History func() (io.ReadCloser, error)

	Command string // command line that repeats the run; may be empty

	// Inevitable is how the violation became inevitable; nil: that was not asked for.
	Inevitable *inevitable.Analysis
}

// LoadRun loads the run of a directory.
func LoadRun(dir string) (ShownRun, error) {
	run, err := results.Load(dir)
	if err != nil {
		return ShownRun{}, err
	}
	path, err := results.HistoryPath(dir)
	if err != nil {
		return ShownRun{}, err
	}
	s := ShownRun{Title: titleOf(run), Dir: dir, Run: run, History: openHistory(path)}
	if run.TraceHash != "" && !run.Cut {
		s.Command = textfmt.Command("replay", dir)
	}
	return s, nil
}

func titleOf(r results.Run) string {
	return fmt.Sprintf("%s, %s, seed %d", r.Scenario.Name, r.Backend, r.Seed)
}

// LoadHistory checks the history in a file.
func LoadHistory(path string) (ShownRun, error) {
	s := ShownRun{Title: TitleOf([]string{path}), Bare: true, History: openHistory(path), Command: textfmt.Command("check", path)}
	text, err := s.History()
	if err != nil {
		return s, err
	}
	defer func() { _ = text.Close() }()
	read := bufio.NewReader(text)
	if begin, _ := read.Peek(512); jepsen.Looks(begin) {
		return s, fmt.Errorf("%s: a Jepsen history, and reports show histories of Lockstorm: %s checks it and draws a picture", path, s.Command)
	}
	h, report, err := results.Judge(read)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	s.Run = results.Run{Backend: h.Backend, Seed: h.Seed, Verdicts: report.Verdicts(), Report: report}
	s.Run.Scenario.Name = h.Scenario
	return s, nil
}

// openHistory opens a file that may be compressed.
func openHistory(path string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		raw, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		text, err := packed.Opened(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return text, nil
	}
}

// Replayed runs a scenario in the simulator, and keeps its history in memory.
func Replayed(ctx context.Context, simulator runner.Backend, s scenarios.Scenario, seed uint64, again string) (ShownRun, error) {
	e, err := runner.Prepare(simulator, s)
	if err != nil {
		return ShownRun{}, err
	}
	return replayed(ctx, e, seed, again)
}

// replayed runs an experiment that repeats exactly, and keeps its history in memory.
func replayed(ctx context.Context, e runner.Experiment, seed uint64, again string) (ShownRun, error) {
	var text bytes.Buffer
	w := history.NewWriter(&text, e.Header(seed))
	result, err := e.Run(ctx, seed, w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil && result.Interrupted {
		err = context.Cause(ctx)
	}
	run := results.RunOf(result, nil)
	return ShownRun{
		Title: titleOf(run), Run: run, Command: again,
		History: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
	}, err
}

// ShownRunOf returns a run that was just made. It is stored in dir or, if dir is empty and the
// backend is exact, repeated for its history.
func ShownRunOf(e runner.Experiment, result runner.Result, dir string, versions map[string]string, again string) ShownRun {
	run := results.RunOf(result, versions)
	s := ShownRun{Title: titleOf(run), Dir: dir, Run: run, Command: again}
	switch {
	case dir != "":
		s.History = openHistory(filepath.Join(dir, results.HistoryFile))
	case e.Backend().Exact && !result.Interrupted:
		s.History = func() (io.ReadCloser, error) {
			whole, err := runner.Prepare(e.Backend(), result.Executed())
			if err != nil {
				return nil, err
			}
			again, err := replayed(context.Background(), whole.WithCourse(result.Course), result.Seed, "")
			if err != nil {
				return nil, err
			}
			return again.History()
		}
	}
	return s
}

// tally is the run as a tally of one.
func (s ShownRun) tally() runner.Tally {
	t := runner.NewTally(s.Run.Scenario.Scenario)
	t.Add(runner.Result{
		Scenario: s.Run.Scenario.Scenario, Plan: s.Run.Scenario.Plan, Backend: s.Run.Backend, Seed: s.Run.Seed,
		Report: s.Run.Report, SchedulingLag: s.Run.Slip, Interrupted: s.Run.Cut,
	})
	return t
}

// violates reports whether the run shows a violation.
func (s ShownRun) violates() bool { return len(Violated(s.tally())) > 0 }

// Runs adds runs of any scenarios: a single one with all details; several as a table, with all
// details of the first ones with violations.
func (r *Report) Runs(list []ShownRun) error {
	if len(list) == 0 { // stopped before the first
		r.Add("Runs", document.Prose("There is no run."))
		return nil
	}
	if len(list) == 1 {
		messages, err := r.messagesOf(list[0])
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
		if len(shown) < r.options.MaxDetails && s.violates() {
			shown[i] = r.Anchor("run", s.Title)
		}
	}
	t := document.Table{Columns: document.Named("run", "seed", "found", "as expected", "grants", "again"), Filters: true}
	violating := 0
	var details []document.Block
	for i, s := range list {
		tally := s.tally()
		name := document.Text(s.Title)
		if s.violates() {
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
		t.Add(name, document.Number(float64(s.Run.Seed), fmt.Sprint(s.Run.Seed)), document.Text(verdictsOf(s)),
			document.Cell{Text: tally.Conclusion().String(), Mark: markOf(tally.Conclusion())},
			document.Count(s.Run.Report.Measurements.Grants), document.Text(textfmt.Dash(s.Command)))
	}
	r.Add("Runs", t, document.Prose(SignLegend+". "+Codes()+"."))
	if len(details) > 0 {
		text := "Each run that violates something."
		if violating > len(details) {
			text = fmt.Sprintf("The first %d of %d runs that violate something.", len(details), violating)
		}
		r.Add("Runs that violate something", append([]document.Block{document.Prose(text)}, details...)...)
	}
	r.addFoot("The runs", list[0].Run.Versions, "")
	return nil
}

// verdictsOf prints the verdicts of a run as signs.
func verdictsOf(s ShownRun) string {
	return grouped(func(p checker.Property) (checker.Verdict, bool) {
		v, judged := s.Run.Verdicts[p]
		return v, judged && v != checker.NotApplicable
	})
}

// runBlocks shows all details of a run: what happened, over time and message by message, and
// below it the verdicts and the setting. messages may be empty.
func (r *Report) runBlocks(s ShownRun, messages ...document.Block) ([]document.Block, error) {
	run := s.Run
	course, err := r.runDetails(s)
	if err != nil {
		return nil, err
	}
	verdicts := []document.Block{document.Heading("Verdicts"), verdictTable(s)}
	if len(run.Scenario.Clients) > 0 {
		verdicts = []document.Block{document.Columns{verdicts, {document.Heading("Setting"), factsOf(Setting(run.Scenario.Scenario))}}}
	}
	blocks := slices.Concat(leadOf(s), course, inevitableBlocks(s.Inevitable), messages, verdicts)
	if s.Command != "" {
		blocks = append(blocks, document.Code(s.Command))
	}
	blocks = append(blocks, figuresOf(run.Report.Measurements.Figures(1)))
	if len(run.Scenario.Clients) > 0 {
		var yaml strings.Builder
		if err := run.Scenario.Print(&yaml); err != nil {
			return nil, err
		}
		blocks = append(blocks, document.Fold{Summary: "the scenario with the executed plan, as YAML", Blocks: []document.Block{document.Code(yaml.String())}})
	}
	return blocks, nil
}

// runDetails is the timeline with the findings or, without a history, the findings alone.
func (r *Report) runDetails(s ShownRun) ([]document.Block, error) {
	if s.History == nil {
		return stories(s.Run.Report), nil
	}
	run := timeline.Run{Open: s.History, Report: s.Run.Report}
	if len(s.Run.Scenario.Clients) > 0 {
		run.Scenario = &s.Run.Scenario.Scenario
	}
	m, err := timeline.Read(run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Title, err)
	}
	if r.timelines++; r.timelines > 1 {
		m.Anchor = fmt.Sprintf("run-%d-", r.timelines)
	}
	return []document.Block{m.Block()}, nil
}

// stories describes what is violated or undecided.
func stories(found checker.Report) (all []document.Block) {
	for _, f := range found.Findings {
		mark := document.Bad
		switch f.Verdict {
		case checker.Unknown:
			mark = document.Open
		case checker.Violated:
		default:
			continue
		}
		all = append(all, document.Notice{Mark: mark, Text: fmt.Sprintf("%s %s %v: %s", f.Property.Code(), f.Property.Title(), f.Verdict, f.Story())})
	}
	return all
}

// verdictTable has a line for each property that was checked.
func verdictTable(s ShownRun) document.Table {
	t := document.Table{Columns: document.Named("", "property", "expected", "found", "violations")}
	for _, f := range s.Run.Report.Findings {
		expected, mark := "–", document.Plain
		if want, wanted := s.Run.Scenario.Expect.Want(f.Property); wanted {
			expected = Sign(want) + " " + want.String()
			if want != f.Verdict {
				mark = document.Bad
			} else {
				mark = document.Good
			}
		} else if f.Verdict == checker.Violated {
			mark = document.Bad
		}
		if f.Verdict == checker.Unknown {
			mark = document.Open
		}
		t.Add(document.Text(f.Property.Code()), document.Text(f.Property.Title()), document.Text(expected),
			document.Cell{Text: Sign(f.Verdict) + " " + f.Verdict.String(), Mark: mark}, document.Count(f.Count))
	}
	if s.Run.Slip > 0 {
		t.Caption = fmt.Sprintf("The machine was late by at most %v.", s.Run.Slip.Round(time.Microsecond))
	}
	return t
}
