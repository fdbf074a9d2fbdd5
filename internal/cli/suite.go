package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// task is the runs of a scenario with the seeds First, First+1, …
type task struct {
	Scenario scenarios.Scenario
	First    uint64
	Runs     int
}

// suite is a list of scenarios that run side by side on one backend.
type suite struct {
	what       string // that the progress is of
	backend    runner.Backend
	sideBySide int    // runs at a time; 0: see [sideBySide]
	out        string // directory for the runs; empty: they are not stored
	tasks      []task
	each       func(stored) // receives every run; may be nil

	// begin receives the tasks that the backend can run, and returns what receives the tally of
	// each when it is settled. It may be nil.
	begin func([]fittingTask) (settled func(runner.Tally))
}

// sideBySide returns the default number of concurrent runs on a backend.
func sideBySide(b runner.Backend) int {
	cores := runtime.GOMAXPROCS(0)
	switch {
	case b.Idle:
		return 4 * cores
	case b.Alone:
		return 1
	}
	return cores
}

// refusal is a scenario that a backend cannot run, with the reason.
type refusal struct {
	scenario string
	why      error
}

func (r refusal) String() string { return fmt.Sprintf("%s: %v", r.scenario, r.why) }

// runKey identifies a run of a suite.
type runKey struct {
	scenario string
	seed     uint64
}

// storedRuns maps the runs of a suite to their directories.
type storedRuns map[runKey]string

// see records the directory of a run, if it is stored.
func (k storedRuns) see(r stored) {
	if r.dir != "" {
		k[runKey{r.Scenario.Name, r.Seed}] = r.dir
	}
}

// The runs that a suite stores: see [firsts], or all.
const (
	keepFirst = "first"
	keepAll   = "all"
)

// firsts keeps the first stored run of each scenario that violates a property, or leaves it open,
// and removes the others: the whole debate has 12,000 runs, which take gigabytes.
type firsts struct {
	kept storedRuns
	seen map[scenarioVerdict]bool
}

type scenarioVerdict struct {
	scenario string
	property checker.Property
	verdict  checker.Verdict
}

func (f firsts) see(r stored) {
	first := false
	for _, found := range r.Report.Findings {
		v := scenarioVerdict{r.Scenario.Name, found.Property, found.Verdict}
		if (v.verdict == checker.Violated || v.verdict == checker.Unknown) && !f.seen[v] {
			f.seen[v], first = true, true
		}
	}
	if first {
		f.kept.see(r)
	} else if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}

// dir returns the directory of a run, or "" if it is not stored.
func (k storedRuns) dir(scenario, _ string, seed uint64) string { return k[runKey{scenario, seed}] }

// stoppedLine is printed with the results of a command that was stopped.
const stoppedLine = "Stopped before the end. These are the results so far."

// run runs the suite until it is done or ctx ends. It returns the results so far, and the
// scenarios that the backend cannot run.
func (s suite) run(ctx context.Context, problems io.Writer) (found report.Tallies, refused []refusal, err error) {
	fit, refused, err := s.fitting()
	if err != nil {
		return nil, refused, err
	}
	bar := terminal.NewBar(problems, s.what, runsOf(fit), terminal.Pieces)
	defer bar.Done()
	each := func(r stored) {
		bar.Step()
		if s.each != nil {
			s.each(r)
		}
	}
	var settled func(runner.Tally)
	if s.begin != nil {
		settled = s.begin(fit)
	}
	var batches []runner.Batch
	for _, t := range fit {
		b, err := batch{experiment: t.experiment, first: t.First, runs: t.Runs, out: s.out, each: each}.prepare()
		if err != nil {
			return nil, refused, fmt.Errorf("%s: %w", t.Scenario.Name, err)
		}
		b.Name, b.Settled = t.Scenario.Name, settled
		if !s.backend.Exact {
			b.Failed = func(err error) { _, _ = fmt.Fprintf(problems, "%v\nThis run will be repeated.\n", err) }
		}
		batches = append(batches, b)
	}
	all, err := runner.RunBatches(ctx, s.parallel(), batches)
	found = report.Tallies{}
	for _, t := range all {
		if t.Runs > 0 {
			found[t.Scenario.Name] = t
		}
	}
	return found, refused, err
}

// parallel returns the number of runs at a time.
func (s suite) parallel() int { return cmp.Or(s.sideBySide, sideBySide(s.backend)) }

// fittingTask is a task that the backend can run.
type fittingTask struct {
	task
	experiment runner.Experiment
}

// fitting returns the tasks that the backend can run, and why it cannot run the others.
func (s suite) fitting() (fit []fittingTask, refused []refusal, err error) {
	for _, t := range s.tasks {
		e, err := prepareOn(s.backend, t.Scenario)
		var unfit *runner.UnfitError
		switch {
		case errors.As(err, &unfit):
			refused = append(refused, refusal{t.Scenario.Name, unfit.Reason})
		case err != nil:
			return nil, refused, fmt.Errorf("%s: %w", t.Scenario.Name, err)
		default:
			fit = append(fit, fittingTask{t, e})
		}
	}
	return fit, refused, nil
}

// runsOf returns the number of runs of some tasks.
func runsOf(list []fittingTask) (n int64) {
	for _, t := range list {
		n += int64(t.Runs)
	}
	return n
}

// reference returns the results of the suite as they are stored.
func (s suite) reference(found report.Tallies) results.Reference {
	f := results.Reference{Backend: s.backend.Name, Versions: versionsOf(s.backend, s.tasks)}
	for _, t := range s.tasks {
		if tally, ok := found[t.Scenario.Name]; ok {
			f.Rows = append(f.Rows, results.RowOf(tally, t.First))
		}
	}
	f.Rows = results.InOrder(f.Rows)
	return f
}

// subject is the topic of a suite: the debate or the comparison.
type subject interface {
	// learn receives the results so far.
	learn(known)
	print(out io.Writer, reference results.Reference) error
	Conclusion() runner.Conclusion
}

// known is the results of a suite so far.
type known struct {
	found   report.Tallies
	refused []refusal // by the backend
	stopped bool      // before the end
	unsaved string    // the directory of --save, if that is why nothing was stored there

	versions map[string]string // that the results were made with
}

// printStopped says that these are not all results.
func (k known) printStopped(out io.Writer) {
	if !k.stopped {
		return
	}
	_, _ = fmt.Fprintln(out, stoppedLine)
	if k.unsaved != "" {
		_, _ = fmt.Fprintf(out, "Nothing is saved in %s: --save stores complete results only.\n", k.unsaved)
	}
}

func (k *known) learn(now known) { *k = now }

// location is the directory in which the results of a suite are stored.
type location struct {
	dir, file string
	renew     bool // what is there stays, but for the rows that are stored
}

// keep stores the results of a suite.
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

// present runs a suite, stores the results, unless there is no directory or the suite was
// stopped, and prints them, even if they could not be stored. It returns the error for the exit code.
func (s suite) present(ctx context.Context, of subject, save location, out, problems io.Writer) error {
	found, refused, err := s.run(ctx, problems)
	if err != nil {
		return err
	}
	now := known{found: found, refused: refused, stopped: ctx.Err() != nil}
	if now.stopped {
		now.unsaved = save.dir
	}
	reference := s.reference(found)
	now.versions = reference.Versions
	of.learn(now)
	var unsaved error
	if save.dir != "" && !now.stopped {
		if err := save.keep(reference); err != nil {
			unsaved = fmt.Errorf("--save: %w", err)
		}
	}
	if err := cmp.Or(of.print(out, reference), unsaved); err != nil {
		return err
	}
	conclusion := of.Conclusion()
	if now.stopped && conclusion == runner.AsExpected { // which is not that of all runs
		conclusion = runner.Undecided
	}
	return exitFor(conclusion)
}

// presentStored prints the stored results of a suite.
func presentStored(from location, of subject, out io.Writer) error {
	reference, err := results.LoadReference(from.dir, from.file)
	if err != nil {
		return err
	}
	found, err := report.TalliesOf(reference)
	if err != nil {
		return err
	}
	of.learn(known{found: found, versions: reference.Versions})
	if err := of.print(out, reference); err != nil {
		return err
	}
	return exitFor(of.Conclusion())
}
