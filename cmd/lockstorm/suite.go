package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// suite is many scenarios, run side by side on one backend.
type suite struct {
	what       string // that the progress is of
	backend    runner.Backend
	sideBySide int    // runs at a time; 0: see [sideBySide]
	out        string // directory for the runs; empty: they are not stored
	tasks      []task
	each       func(stored) // is told of every run; nil: nobody is
}

// sideBySide is how many runs of a backend go side by side where nobody says how many.
func sideBySide(b runner.Backend) int {
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

// refusal is why a backend cannot run a scenario.
type refusal struct {
	scenario string
	why      error
}

func (r refusal) String() string { return fmt.Sprintf("%s: %v", r.scenario, r.why) }

// runKey is which run of a suite one is.
type runKey struct {
	scenario string
	seed     uint64
}

// storedRuns is where the runs of a suite are stored.
type storedRuns map[runKey]string

// see notes where a run is stored, if it is.
func (k storedRuns) see(r stored) {
	if r.dir != "" {
		k[runKey{r.Scenario.Name, r.Seed}] = r.dir
	}
}

// dir returns where a run is stored, or "".
func (k storedRuns) dir(scenario, _ string, seed uint64) string { return k[runKey{scenario, seed}] }

// stoppedNote is said of what is printed when the suite was stopped.
const stoppedNote = "Stopped before the end: this is what is known, and nothing was saved."

// run runs the suite and returns what is known when it is done, or ctx ends, and
// why some of the scenarios do not fit the backend.
func (s suite) run(ctx context.Context, problems io.Writer) (found report.Tallies, refused []refusal, err error) {
	bar := terminal.NewBar(problems, s.what, s.runs(), terminal.Pieces)
	defer bar.Done()
	each := func(r stored) {
		bar.Step()
		if s.each != nil {
			s.each(r)
		}
	}
	var batches []runner.Batch
	for _, t := range s.tasks {
		e, err := prepareOn(s.backend, t.scenario)
		var unfit *runner.UnfitError
		if errors.As(err, &unfit) {
			bar.Add(-t.runs)
			refused = append(refused, refusal{t.scenario.Name, unfit.Reason})
			continue
		}
		var b runner.Batch
		if err == nil {
			b, err = batch{experiment: e, first: t.first, runs: t.runs, out: s.out, each: each}.prepare()
		}
		if err != nil {
			return nil, refused, fmt.Errorf("%s: %w", t.scenario.Name, err)
		}
		b.Name = t.scenario.Name
		batches = append(batches, b)
	}
	all, err := runner.RunBatches(ctx, cmp.Or(s.sideBySide, sideBySide(s.backend)), batches)
	found = report.Tallies{}
	for _, t := range all {
		if t.Runs > 0 {
			found[t.Scenario.Name] = t
		}
	}
	return found, refused, err
}

// runs is how many there are.
func (s suite) runs() (n int64) {
	for _, t := range s.tasks {
		n += int64(t.runs)
	}
	return n
}

// reference returns what is stored of the suite.
func (s suite) reference(found report.Tallies) results.Reference {
	f := results.Reference{Backend: s.backend.Name, Versions: lastingVersions(s.backend)}
	for _, t := range s.tasks {
		if tally, ok := found[t.scenario.Name]; ok {
			f.Rows = append(f.Rows, results.RowOf(tally, t.first))
		}
	}
	return f
}

// subject is what a suite is about: the debate, or the comparison.
type subject interface {
	// learn takes in what is known of the suite.
	learn(known)
	print(out io.Writer, reference results.Reference) error
	Conclusion() runner.Conclusion
}

// known is what is known of a suite.
type known struct {
	found   report.Tallies
	refused []refusal // by the backend
	stopped bool      // before the end
}

func (k *known) learn(now known) { *k = now }

// location is where the results of a suite are kept.
type location struct {
	dir, file string
	renew     bool // what is there stays, but for the rows that are stored
}

// keep stores what a suite has shown.
func (l location) keep(shown results.Reference) error {
	if l.renew {
		stored, err := results.LoadReference(l.dir, l.file)
		if err == nil {
			shown, err = stored.Renewed(shown)
		}
		if err != nil {
			return err
		}
	}
	return shown.Save(l.dir, l.file)
}

// present runs a suite, stores what it has shown, unless there is no directory for it
// or the suite was stopped, and prints it, also where it could not be stored.
func (s suite) present(ctx context.Context, of subject, save location, out, problems io.Writer) error {
	found, refused, err := s.run(ctx, problems)
	if err != nil {
		return err
	}
	stopped := ctx.Err() != nil
	of.learn(known{found, refused, stopped})
	reference := s.reference(found)
	var unsaved error
	if save.dir != "" && !stopped {
		if err := save.keep(reference); err != nil {
			unsaved = fmt.Errorf("--save: %w", err)
		}
	}
	if err := cmp.Or(of.print(out, reference), unsaved); err != nil {
		return err
	}
	conclusion := of.Conclusion()
	if stopped && conclusion == runner.AsExpected { // which is not that of all runs
		conclusion = runner.Undecided
	}
	return exitFor(conclusion)
}

// presentStored prints what a suite has shown as it was stored.
func presentStored(from location, of subject, out io.Writer) error {
	reference, err := results.LoadReference(from.dir, from.file)
	if err != nil {
		return err
	}
	found, err := report.Recall(reference)
	if err != nil {
		return err
	}
	of.learn(known{found: found})
	if err := of.print(out, reference); err != nil {
		return err
	}
	return exitFor(of.Conclusion())
}
