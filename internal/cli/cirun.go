package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/show/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// commandLine runs a command line of this program. It returns the exit code and what was printed.
type commandLine func(ctx context.Context, args ...string) (code int, out, problems string)

// ciRun is a run of ci.
type ciRun struct {
	budget              time.Duration
	suites, programs    []string
	runs                int
	seed                uint64
	dir, junit, summary string

	line   commandLine
	out    io.Writer
	began  time.Time
	report ci.Report
	failed error

	in    map[string][]string // what each suite that is run checks
	tests map[string]string   // the directories of the packages whose tests use locktest, by import paths
}

// share returns a context that ends with ctx, or when a part of the time that is left is used up.
func (r *ciRun) share(ctx context.Context, parts int) (context.Context, context.CancelFunc) {
	left := time.Until(r.began.Add(r.budget))
	return context.WithDeadlineCause(ctx, time.Now().Add(left/time.Duration(parts)),
		fmt.Errorf("the budget of %s is used up: raise --budget", textfmt.Whole(r.budget)))
}

// whyEnded returns the reason why a context, and the work under it, has ended.
func whyEnded(ctx context.Context) string {
	if why := context.Cause(ctx); !errors.Is(why, context.Canceled) {
		return why.Error()
	}
	return "interrupted"
}

// add adds a check that was made, or not run, and prints a line about it.
func (r *ciRun) add(c ci.Check) {
	r.report.Checks = append(r.report.Checks, c)
	_, _ = fmt.Fprintln(r.out, strings.TrimSuffix(fmt.Sprintf("%s: %s: %v: %s", c.Suite, c.Name, c.Outcome, c.Summary), ": "))
}

// fail records that something could not be done, if err is an error.
func (r *ciRun) fail(what string, err error) {
	if err != nil {
		r.failed = errors.Join(r.failed, fmt.Errorf("%s: %w", what, err))
	}
}

// inRepository returns a path as an annotation needs it.
func inRepository(path string) string {
	abs, err := filepath.Abs(path)
	if rel, no := filepath.Rel(os.Getenv("GITHUB_WORKSPACE"), abs); err == nil && no == nil {
		path = rel
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// stormCheck returns the check of a storm.
func stormCheck(suite, name string, s external.Record) ci.Check {
	return ci.Check{Suite: suite, Name: name, Summary: s.Reason, Story: s.Story, Command: s.Again, Kept: s.Dir, Took: s.Took, Outcome: ci.Outcome(s.Verdict)}
}
