package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

// A suite is a list of scenarios that are run, stored and printed together. Debate, compare and
// "run @NAME" share the code in this file; what differs is the subject.
type subject interface {
	file() string // that the results are stored in
	title() string

	// usual returns the runs of each scenario and the number of runs at a time on a backend.
	usual(b runner.Backend) (runs, parallel int)
	tasks(o suiteOptions) []task

	// learn receives the results so far, and again the flags that repeat a run on their backend.
	learn(now known, again []string)
	print(out io.Writer, format string) error
	conclusion() runner.Conclusion

	// fill makes the HTML page. kept returns the directory of a stored run; it may be nil.
	fill(ctx context.Context, page *report.Report, side report.Side, kept keptRun) error
}

// keptRun returns the directory of a run, or "" if it is not stored.
type keptRun func(scenario, backend string, seed uint64) string

// suiteOptions are the flags of a suite.
type suiteOptions struct {
	backend  runner.Backend
	again    []string // the flags that chose the backend
	runs     int      // of each scenario; 0: as usual
	seed     uint64
	parallel int    // runs at a time; 0: as usual
	out      string // directory for results and runs; empty: nothing is stored
	from     string // directory of the results that are printed in place of new ones
	format   string
	report   reportFile
}

// flags adds the flags of debate and compare.
func (o *suiteOptions) flags(cmd *cobra.Command, of subject) {
	virtual, _ := of.usual(runner.Backend{Exact: true})
	servers, _ := of.usual(runner.Backend{})
	cmd.Flags().IntVar(&o.runs, "runs", 0, fmt.Sprintf("runs of each scenario (default %d in virtual time, otherwise %d)", virtual, servers))
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "first seed")
	parallelFlag(cmd, &o.parallel)
	cmd.Flags().StringVar(&o.out, "out", "", "directory for the results, "+of.file()+", and for the first run of each scenario that violates a property or leaves it open (default: nothing is stored)")
	cmd.Flags().StringVar(&o.from, "from", "", "print the results stored in this directory, and run nothing")
	formatFlag(cmd, &o.format, tableFormats, " (a line per scenario and property)")
	o.report.flag(cmd)
	for _, f := range []string{"backend", "clients", "runs", "parallel", "seed", "out"} {
		cmd.MarkFlagsMutuallyExclusive("from", f)
	}
}

// command runs a suite, or prints what is stored of it, as the flags of a command say.
func (o suiteOptions) command(cmd *cobra.Command, backend *backendChoice, of subject) (err error) {
	if o.backend, err = backend.backend(); err != nil {
		return err
	}
	o.again = backend.words()
	o.report.most = math.MaxInt // each scenario that violates something has a run
	if err := cmp.Or(writableDir("--out", o.out), o.report.check("report")); err != nil {
		return err
	}
	if o.from != "" {
		side, err := o.recall(of, cmd.OutOrStdout())
		return o.reported(cmd, of, side, nil, err)
	}
	side, kept, err := o.present(cmd.Context(), of, cmd.OutOrStdout(), cmd.ErrOrStderr())
	return o.reported(cmd, of, side, kept, err)
}

// reported makes the HTML page of a command that ended with err.
func (o suiteOptions) reported(cmd *cobra.Command, of subject, side report.Side, kept keptRun, err error) error {
	return o.report.after(cmd, err, of.title()+" on "+side.Name, func(ctx context.Context, page *report.Report) error {
		return of.fill(ctx, page, side, kept)
	})
}

// suite is a list of scenarios that run side by side on one backend.
type suite struct {
	what       string // in the line of progress
	backend    runner.Backend
	sideBySide int    // runs at a time; 0: as suits the backend
	out        string // directory for the runs; empty: they are not stored
	tasks      []task
	each       func(stored) // receives every run
}

// task is some runs of a scenario.
type task struct {
	Scenario scenarios.Scenario
	First    uint64 // seed
	Runs     int
}

// known is the results of a suite so far.
type known struct {
	results.Reference
	found   report.Tallies
	refused []refusal // by the backend
	stopped bool      // before the end
	unsaved string    // the directory in which nothing is stored, because of that
}

// refusal is a scenario that a backend cannot run, with the reason.
type refusal struct {
	scenario string
	why      error
}

func (r refusal) String() string { return fmt.Sprintf("%s: %v", r.scenario, r.why) }

// stoppedLine is printed with the results of a command that was stopped.
const stoppedLine = "Stopped before the end. These are the results so far."

// printRest names what was not run.
func (k known) printRest(out io.Writer) {
	for _, r := range k.refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	if !k.stopped {
		return
	}
	_, _ = fmt.Fprintln(out, stoppedLine)
	if k.unsaved != "" {
		_, _ = fmt.Fprintf(out, "Nothing is stored in %s: --out stores complete results only.\n", k.unsaved)
	}
}

// suite returns what is run.
func (o suiteOptions) suite(of subject) suite {
	runs, parallel := of.usual(o.backend)
	o.runs = cmp.Or(o.runs, runs)
	return suite{what: of.title(), backend: o.backend, sideBySide: cmp.Or(o.parallel, parallel), out: o.out, tasks: of.tasks(o)}
}

// reference returns the results as they are stored.
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

// present runs a suite, prints the results, and stores them unless it was stopped. The error has the
// exit code.
func (o suiteOptions) present(ctx context.Context, of subject, out, problems io.Writer) (side report.Side, kept keptRun, err error) {
	s := o.suite(of)
	firsts := newFirsts(false)
	s.each = func(r stored) { firsts.see(&r, false) }
	var now known
	if now.found, now.refused, err = s.run(ctx, problems); err != nil {
		return side, nil, err
	}
	now.Reference = s.reference(now.found)
	side = report.Side{Backend: o.backend, Found: now.found, First: map[string]uint64{}, Versions: versions(o.backend)}
	for _, t := range s.tasks {
		side.First[t.Scenario.Name] = t.First
	}
	if now.stopped = ctx.Err() != nil; now.stopped {
		now.unsaved = o.out
	}
	of.learn(now, o.again)
	var unsaved error
	if o.out != "" && !now.stopped {
		if err := now.Save(o.out, of.file()); err != nil {
			unsaved = fmt.Errorf("--out: %w", err)
		}
	}
	if err := cmp.Or(of.print(out, o.format), unsaved); err != nil {
		return side, nil, err
	}
	conclusion := of.conclusion()
	if now.stopped && conclusion == runner.AsExpected { // which is not that of all runs
		conclusion = runner.Undecided
	}
	return side, firsts.dir, exitFor(conclusion)
}

// recall prints stored results. The error has the exit code.
func (o suiteOptions) recall(of subject, out io.Writer) (report.Side, error) {
	side, reference, err := loadSide(o.from, of.file())
	if err != nil {
		return side, err
	}
	wanted := map[string]bool{}
	for _, t := range of.tasks(o) {
		wanted[t.Scenario.Name] = true
	}
	reference.Rows = slices.DeleteFunc(reference.Rows, func(r results.Row) bool { return !wanted[r.Scenario] })
	of.learn(known{Reference: reference, found: side.Found}, report.BackendArgs(reference.Backend, reference.Versions))
	if err := of.print(out, o.format); err != nil {
		return side, err
	}
	return side, exitFor(of.conclusion())
}

// loadSide reads the stored results of a suite.
func loadSide(dir, file string) (report.Side, results.Reference, error) {
	reference, err := results.LoadReference(dir, file)
	if err != nil {
		return report.Side{}, reference, err
	}
	b, err := findBackend(reference.Backend)
	if err != nil {
		return report.Side{}, reference, fmt.Errorf("%s: %w", dir, err)
	}
	found, err := report.TalliesOf(reference)
	return report.Side{Backend: b.Backend, Found: found, First: report.FirstSeeds(reference), Versions: reference.Versions}, reference, err
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

// fittingTask is a task that the backend can run.
type fittingTask struct {
	task
	experiment runner.Experiment
}

// run runs the suite until it is done or ctx ends. It returns the results so far, and the scenarios that
// the backend cannot run.
func (s suite) run(ctx context.Context, problems io.Writer) (found report.Tallies, refused []refusal, err error) {
	fit, refused, err := s.fitting()
	if err != nil {
		return nil, refused, err
	}
	bar := terminal.NewBar(problems, s.what, runsOf(fit), terminal.Pieces)
	defer bar.Done()
	each := func(r stored) {
		bar.Step()
		s.each(r)
	}
	var batches []runner.Batch
	for _, t := range fit {
		b, err := batch{experiment: t.experiment, first: t.First, runs: t.Runs, out: s.out, each: each}.prepare()
		if err != nil {
			return nil, refused, fmt.Errorf("%s: %w", t.Scenario.Name, err)
		}
		b.Name = t.Scenario.Name
		if !s.backend.Exact {
			b.Failed = func(err error) { _, _ = fmt.Fprintf(problems, "%v\nThis run will be repeated.\n", err) }
		}
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

// allKnown names the first of some names that is not known.
func allKnown(what string, some, known []string) error {
	for _, n := range some {
		if !slices.Contains(known, n) {
			return &textfmt.UnknownError{What: what, Name: n, Known: known}
		}
	}
	return nil
}

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = name(v)
	}
	return all
}

// versionsOf returns the lasting versions of all that some scenarios use on a backend. Scenarios that
// the backend cannot run use nothing.
func versionsOf(b runner.Backend, all []task) map[string]string {
	v, seen := map[string]string{}, map[string]bool{} // by product: some take a second to print their version
	for _, t := range all {
		if e, err := runner.Prepare(b, t.Scenario); err == nil && !seen[e.Backend().Product] {
			seen[e.Backend().Product] = true
			maps.Copy(v, lastingVersions(e.Backend()))
		}
	}
	return v
}
