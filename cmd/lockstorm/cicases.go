package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstorm/lockstorm/cases"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// savedCase is a case that is ready to be run.
type savedCase struct {
	replay
	experiment runner.Experiment
}

// caseStage makes the stage of saved cases.
func (o *ciOptions) caseStage() (stage, error) {
	suite := ci.Suite{Name: casesSuite}
	from := o.cases
	if len(from) == 0 {
		if _, err := os.Stat(usualCases); errors.Is(err, fs.ErrNotExist) {
			suite.Note = "no cases: there is no " + usualCases + ", and --cases names no other place"
		} else {
			from = []string{usualCases}
		}
	}
	var saved []savedCase
	for _, name := range from {
		some, err := loadCases(name)
		if err != nil {
			return nil, fmt.Errorf("--cases: %w", err)
		}
		saved = append(saved, some...)
	}
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		ctx, cancel := d.limit(ctx)
		defer cancel()
		bar := terminal.NewBar(problems, casesSuite, int64(len(saved)), terminal.Pieces)
		defer bar.Done()
		var failed error
		for _, s := range saved {
			check, err := o.checkCase(ctx, s, problems)
			failed = errors.Join(failed, err)
			suite.Checks = append(suite.Checks, check)
			bar.Step()
		}
		return suite, failed
	}, nil
}

// loadCases loads the case in a file, or all in a directory.
func loadCases(name string) ([]savedCase, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	paths := []string{name}
	if info.IsDir() {
		if paths, err = casesIn(name); err != nil {
			return nil, err
		}
	}
	var all []savedCase
	for _, path := range paths {
		r, err := replayOfCase(path)
		if err != nil {
			return nil, err
		}
		e, err := r.prepare()
		if err != nil {
			return nil, err
		}
		all = append(all, savedCase{r, e})
	}
	return all, nil
}

// casesIn lists the cases in a directory, in the order of their names. That there is none is
// an error: a suite that is silent because it looks in the wrong place is worth nothing.
func casesIn(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if isCase(f.Name()) {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: there is no case in it, which is a file *%s", dir, cases.Extension)
	}
	return paths, nil
}

// checkCase runs a case, and keeps the run if it does not show what the case says.
func (o *ciOptions) checkCase(ctx context.Context, s savedCase, problems io.Writer) (ci.Check, error) {
	path := s.again.name
	check := ci.Check{Name: filepath.Base(path), File: path, Again: textfmt.Command("replay", path)}
	if ctx.Err() != nil {
		return leftOut(ctx, check), nil
	}
	began := time.Now()
	result, err := s.experiment.Run(ctx, s.seed, nil)
	if err != nil {
		check.Outcome, check.Says = ci.Undecided, whyEnded(ctx)
		return check, fmt.Errorf("%s: %w", path, err)
	}
	check.Took = time.Since(began)
	conclusion, finding := s.kept.Judge(result), result.Report.Finding(s.kept.Property)
	check.Outcome = ci.Of(conclusion)
	switch {
	case conclusion == runner.AsExpected:
		return check, nil
	case result.Interrupted:
		check.Says = "not run to its end: " + whyEnded(ctx)
		return check, nil
	}
	check.Says, check.Story = againstCase(*s.kept, finding, conclusion), told(finding.Lines()...)
	check.Kept, err = o.keepRun(ctx, s.experiment, s.again, s.seed, problems)
	return check, err
}
