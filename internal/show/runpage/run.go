package runpage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/results"
)

// Shown is a run that is shown.
type Shown struct {
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

// TitleOf makes a title of what was run.
func TitleOf(r results.Run) string {
	return fmt.Sprintf("%s, %s, seed %d", r.Scenario.Name, r.Backend, r.Seed)
}

// Judged judges a single history.
func Judged(title string, open func() (io.ReadCloser, error)) (Shown, error) {
	s := Shown{Title: title, Bare: true, History: open}
	text, err := open()
	if err != nil {
		return s, err
	}
	defer func() { _ = text.Close() }()
	h, report, err := results.Judge(text)
	if err != nil {
		return s, err
	}
	s.Run = results.Run{Backend: h.Backend, Seed: h.Seed, Verdicts: report.Verdicts(), Report: report}
	s.Run.Scenario.Name = h.Scenario
	return s, nil
}

// Replayed runs an experiment that repeats exactly, and keeps its history in memory. again is the
// command line that repeats it; it may be empty.
func Replayed(ctx context.Context, e runner.Experiment, seed uint64, again string) (Shown, error) {
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
	return Shown{
		Title: TitleOf(run), Run: run, Command: again,
		History: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
	}, err
}

// Of returns a run that was just made. It is stored in dir or, if dir is empty and the backend is
// exact, repeated for its history.
func Of(e runner.Experiment, result runner.Result, dir string, versions map[string]string, again string) Shown {
	run := results.RunOf(result, versions)
	s := Shown{Title: TitleOf(run), Dir: dir, Run: run, Command: again}
	switch {
	case dir != "":
		s.History = OpenHistory(filepath.Join(dir, results.HistoryFile))
	case e.Backend().Exact && !result.Interrupted:
		s.History = func() (io.ReadCloser, error) {
			whole, err := runner.Prepare(e.Backend(), result.Executed())
			if err != nil {
				return nil, err
			}
			again, err := Replayed(context.Background(), whole.WithCourse(result.Course), result.Seed, "")
			if err != nil {
				return nil, err
			}
			return again.History()
		}
	}
	return s
}

// Tally is the run as a tally of one.
func (s Shown) Tally() runner.Tally {
	t := runner.NewTally(s.Run.Scenario.Scenario)
	t.Add(s.result())
	return t
}

// Violates reports whether the run shows a violation.
func (s Shown) Violates() bool { return len(summary.Violated(s.Tally())) > 0 }
