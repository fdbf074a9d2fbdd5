package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/lockstorm/lockstorm/report/account"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// suite is many scenarios, run side by side on one backend.
type suite struct {
	what       string // that the progress is of
	backend    storm.Backend
	sideBySide int    // runs at a time; 0: see [sideBySide]
	out        string // directory for the runs; empty: they are not stored
	tasks      []task

	dirs map[ranAs]string // where runs are stored; nil: nobody asks
}

// sideBySide is how many runs of a backend go side by side where nobody says how many.
func sideBySide(b storm.Backend) int {
	cores := runtime.GOMAXPROCS(0)
	if b.Idle {
		return 2 * cores
	}
	return cores
}

// task is the runs of one scenario.
type task struct {
	scenario scenarios.Scenario
	first    uint64 // seed
	runs     int
}

// ranAs is which run of a suite one is.
type ranAs struct {
	scenario string
	seed     uint64
}

// keep notes where a run is stored.
func (s suite) keep(r stored) {
	if s.dirs != nil && r.dir != "" {
		s.dirs[ranAs{r.Scenario.Name, r.Seed}] = r.dir
	}
}

// kept returns where a run is stored, or "".
func (s suite) kept(scenario, _ string, seed uint64) string { return s.dirs[ranAs{scenario, seed}] }

// stoppedNote is said of what is printed when the suite was stopped.
const stoppedNote = "Stopped before the end: this is what is known, and nothing was saved."

// run runs the suite and returns what is known when it is done, or ctx ends, and
// why some of the scenarios do not fit the backend.
func (s suite) run(ctx context.Context, problems io.Writer) (found account.Tallies, refused []string, err error) {
	bar := newProgress(problems, s.what, 0)
	defer bar.done()
	var batches []storm.Batch
	for _, t := range s.tasks {
		e, err := prepareOn(s.backend, t.scenario)
		var unfit *storm.UnfitError
		if errors.As(err, &unfit) {
			refused = append(refused, fmt.Sprintf("%s: %v", t.scenario.Name, unfit.Reason))
			continue
		}
		var b storm.Batch
		if err == nil {
			b, err = batch{experiment: e, first: t.first, runs: t.runs, out: s.out, each: func(r stored) { bar.step(); s.keep(r) }}.prepare()
		}
		if err != nil {
			return nil, refused, fmt.Errorf("%s: %w", t.scenario.Name, err)
		}
		b.Name = t.scenario.Name
		batches = append(batches, b)
		bar.total += t.runs
	}
	all, err := storm.RunBatches(ctx, cmp.Or(s.sideBySide, sideBySide(s.backend)), batches)
	found = account.Tallies{}
	for _, t := range all {
		if t.Runs > 0 {
			found[t.Scenario.Name] = t
		}
	}
	return found, refused, err
}

// reference returns what is stored of the suite.
func (s suite) reference(found account.Tallies) results.Reference {
	f := results.Reference{Backend: s.backend.Name, Versions: lastingVersions(s.backend)}
	for _, t := range s.tasks {
		if tally, ok := found[t.scenario.Name]; ok {
			f.Rows = append(f.Rows, results.RowOf(tally, t.first))
		}
	}
	return f
}
