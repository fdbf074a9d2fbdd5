package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// printSuite prints what came of a suite as soon as that is known.
func printSuite(out io.Writer, s ci.Suite) {
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n", s.Name, s.Counts(), seconds(s.Took()))
	if s.Note != "" {
		_, _ = fmt.Fprintf(out, "  %s\n", s.Note)
	}
}

// printReport tells of every check that is not as expected, and what all amounts to.
func printReport(out io.Writer, r ci.Report) {
	for s, c := range r.Of(ci.Contradiction, ci.Undecided) {
		_, _ = fmt.Fprintf(out, "\n%s: %s, %v\n%s", s.Name, c.Name, c.Outcome, c.Text())
	}
	for _, o := range []ci.Outcome{ci.NotRun, ci.NotApplicable} {
		for _, s := range r.Suites {
			if reasons, names := s.Left(o); len(names) > 0 {
				_, _ = fmt.Fprintf(out, "\n%s: %s, %v: %s\n", s.Name, textfmt.Count(len(names), "check"), o, reasons)
			}
		}
	}
	_, _ = fmt.Fprintf(out, "\nci: %v (%s, %s)\n", r.Conclusion(), textfmt.Count(r.Checks(), "check"), seconds(r.Took))
}

// with says what it was checked with.
func (o ciOptions) with() string {
	return fmt.Sprintf("lockstorm %s, budget %s, seed of the hunt %d", version(), textfmt.Whole(o.budget), o.hunt.seed)
}

// write writes the files that were asked for, and the annotations. What cannot be written
// keeps nothing else from being so.
func (o ciOptions) write(r ci.Report, out io.Writer) error {
	var failed error
	if o.junit != "" {
		failed = named("--junit", ci.SaveJUnit(o.junit, r))
	}
	if o.summary != "" {
		failed = errors.Join(failed, named("--summary", appendSummary(o.summary, r)))
	}
	if o.annotations {
		failed = errors.Join(failed, ci.AnnotateGitHub(out, r))
	}
	return failed
}

// appendSummary appends the summary to a file: that of a step is one file for all who have
// something to say in it, with one limit.
func appendSummary(path string, r ci.Report) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	room := ci.MaxSummary
	if info, err := f.Stat(); err == nil {
		room -= int(info.Size())
	}
	_, err = io.WriteString(f, ci.GitHubSummary(r, room))
	return errors.Join(err, f.Close())
}

// named says which flag an error is about.
func named(flag string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}
