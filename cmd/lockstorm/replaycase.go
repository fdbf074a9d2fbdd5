package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/cases"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// isCase reports whether a name can only be that of a file.
func isCase(name string) bool { return filepath.Ext(name) == cases.Extension }

// replayOfCase takes the file of a case.
func replayOfCase(path string) (replay, error) {
	c, err := cases.Load(path)
	if err != nil {
		return replay{}, err
	}
	return replay{
		again:    repetition{name: path, backend: backends[0].Backend},
		scenario: c.Scenario,
		seed:     c.Seed,
		same:     c.Replay().Same,
		trace:    fmt.Sprintf("%08x", c.Trace),
		kept:     &c,
	}, nil
}

// reported makes the page of the run, and of a case that of the case.
func (r replay) reported(cmd *cobra.Command, done ran, err error) error {
	if r.kept == nil {
		return done.reported(cmd, err)
	}
	title := report.Named([]string{r.again.name})
	return done.options.report.after(cmd, err, title, func(ctx context.Context, page *report.Report) error {
		return page.Cases(ctx, []report.Kept{{Case: *r.kept, Path: r.again.name, Title: title}})
	})
}

// printCase prints how a run compares with its case.
func (r replay) printCase(out io.Writer, done ran) error {
	c, f := r.kept, done.last.Report.Finding(r.kept.Property)
	conclusion, on := c.Judge(done.last.Result), terminal.On(out)
	_, _ = fmt.Fprintf(out, "%s: %s\n\n", r.again.name, coloured(on, conclusion, againstCase(*c, f, conclusion)))
	_, _ = fmt.Fprintf(out, "%s %s (seed %d):\n", f.Property.Title(), on.Verdicts(f.Verdict.String()), c.Seed)
	tell(out, f.Lines()...)
	if f.Story() != c.Story && c.Story != "" {
		_, _ = fmt.Fprintln(out, "\nThe case tells it so:")
		tell(out, c.Story)
	}
	if c.Notes != "" {
		_, _ = fmt.Fprintf(out, "\nNotes: %s\n", c.Notes)
	}
	done.printStored(out)
	if is, was := r.traces(done.last.Result); r.same(done.last.Result) {
		_, _ = fmt.Fprintf(out, "the same run: its trace is %s\n", was)
	} else {
		_, _ = fmt.Fprintf(out, "another run than the one that was kept: its trace is %s, and was %s. This program or the file is not the one that it was.\n", is, was)
	}
	return exitFor(conclusion)
}

// againstCase says in a line how what was found compares with what the case shows, and
// what to do about it.
func againstCase(c cases.Case, f checker.Finding, conclusion runner.Conclusion) string {
	is := fmt.Sprintf("%s is %v", f.Property.Title(), f.Verdict)
	if f.Verdict == checker.Holds {
		is = f.Property.Title() + " holds"
	}
	switch {
	case conclusion == runner.AsExpected:
		return "as the case says, " + is
	case conclusion == runner.Undecided:
		return fmt.Sprintf("undecided: %s, and the case says %v", is, c.Shows)
	case f.Verdict == checker.Holds:
		return fmt.Sprintf("%s, and the case says %v. If the lock was mended, and the file is as it was, write %q into the case: it guards the lock then", is, c.Shows, "shows: holds")
	}
	return fmt.Sprintf("%s, and the case says %v", is, c.Shows)
}
