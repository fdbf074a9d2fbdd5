package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// stage is one suite of ci, ready to be run: whatever is wrong with its input has been
// found. It returns what is known also where something could not be run.
type stage func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error)

// stages makes those that the flags ask for.
func (o *ciOptions) stages() ([]stage, error) {
	var all []stage
	for _, s := range []struct {
		name string
		make func() (stage, error)
	}{{casesSuite, o.caseStage}, {debateSuite, o.rowStage}, {huntSuite, o.huntStage}} {
		if !slices.Contains(o.suites, s.name) {
			continue
		}
		one, err := s.make()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// deadline is when the budget is spent.
type deadline struct {
	at     time.Time
	budget time.Duration
}

// limit returns a context that ends with ctx or when the budget is spent.
func (d deadline) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, d.at, fmt.Errorf("the budget of %s was spent: a longer --budget, or fewer --runs, make room", textfmt.Whole(d.budget)))
}

// whyEnded says why a context has ended, and with it what was run under it.
func whyEnded(ctx context.Context) string {
	switch why := context.Cause(ctx); {
	case why == nil:
		return "something could not be run"
	case errors.Is(why, context.Canceled):
		return "it was stopped"
	default:
		return why.Error()
	}
}

// run runs the stages, tells what came of each, and then of everything.
func (o ciOptions) run(ctx context.Context, stages []stage, out, problems io.Writer) error {
	began := time.Now()
	d := deadline{began.Add(o.budget), o.budget}
	report := ci.Report{With: o.with()}
	var failed error
	for _, run := range stages {
		suite, err := run(ctx, d, problems)
		if err != nil {
			suite.Checks = append(suite.Checks, broken(suite.Name, err))
			failed = errors.Join(failed, fmt.Errorf("%s: %w", suite.Name, err))
		}
		printSuite(out, suite)
		report.Suites = append(report.Suites, suite)
	}
	report.Took = time.Since(began)
	printReport(out, report)
	failed = errors.Join(failed, o.write(report, out))
	if failed != nil { // after everything that is known has been told
		return failed
	}
	return exitFor(report.Conclusion())
}

// broken is the check that stands for what could not be run.
func broken(suite string, err error) ci.Check {
	return ci.Check{Name: suite, Outcome: ci.Undecided, Says: oneLine.Replace(err.Error())}
}

// leftOut is a check for which there was no time.
func leftOut(ctx context.Context, c ci.Check) ci.Check {
	c.Outcome, c.Says = ci.NotRun, whyEnded(ctx)
	return c
}
