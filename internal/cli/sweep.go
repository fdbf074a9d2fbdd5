package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/picture"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// sweepOptions are the flags of sweep.
type sweepOptions struct {
	lookup     finder // of the scenario of a sweep of one's own
	vary       []string
	property   string
	runs       int
	seed       uint64
	out        string
	shard      shardFlag
	points     numbers
	sideBySide int
	show       string
	json       bool
	report     reportFile
}

// The default numbers of runs of a point.
const (
	exactRuns = 1000
	realRuns  = 5
)

func newSweep() *cobra.Command {
	o := sweepOptions{lookup: findAnd}
	cmd := &cobra.Command{
		Use:   "sweep [NAME|SCENARIO]",
		Short: "Measure how often a property is violated as a function of parameters",
		Long: `Measure how often a property is violated as a function of some parameters. Each point
of a sweep is a scenario, run with many seeds; the measured share has a Wilson 95 %
interval and is compared with a formula. Boundaries are located by bisection. Without
NAME, all sweeps are listed.

--vary makes a sweep over a SCENARIO (a name or a YAML file). A range has 11 evenly
spaced values, or as many as stand behind a colon. The first field with numbers is the
x axis; --vary again for further fields, whose values give curves.

--out stores each measured point. After an interruption the same command continues
from there; when all points are measured, it writes tables, pictures and a summary.
--shard i/n measures every n-th point, beginning with the i-th; "lockstorm merge" puts
shards together. In virtual time the result is the same to the byte, however the work
was divided. With --shard auto/n a Slurm array (SLURM_ARRAY_TASK_ID) or an Indexed Job
of Kubernetes (JOB_COMPLETION_INDEX) chooses i, and the exit code is 0 if the part is
made: merge gives the verdict.

"lockstorm run" repeats the runs of a point by its scenario's name. --show prints the
scenario of a point, or of a boundary at x, as a file that can be run.

Exit codes: 0 all points are measured and the formulas fit (inside 90 % of the
intervals, and at the boundaries); 1 a formula does not fit; 2 bad usage or input;
3 interrupted, or something is undecided.`,
		Example: `  lockstorm sweep
  lockstorm sweep restart-delay --runs 10000 --out runs/restart-delay
  lockstorm sweep restart-delay --runs 10000 --shard 1/4 --out runs/part1
  lockstorm sweep restart-delay --backend process --points 1,7,12
  lockstorm sweep restart-boundary --show 3@0.95 >mine.yaml
  lockstorm sweep mine.yaml --vary plan[1].end.after=0s..1.5s:31 --vary lock.ttl=1s,2s`,
		Args: takes(0, 1),
	}
	backend := backendFlags(cmd)
	o.flags(cmd)
	o.report.flag(cmd)
	cmd.MarkFlagsMutuallyExclusive("show", "report")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && cmd.Flags().NFlag() > 0:
			return errors.New("name a sweep; without flags and name, all sweeps are listed")
		case len(args) == 0:
			return listSweeps(cmd.OutOrStdout())
		}
		if o.show != "" {
			s, err := o.find(args[0])
			if err != nil {
				return err
			}
			return showUnit(s, o.show, cmd.OutOrStdout())
		}
		b, err := backend.backend()
		if err != nil {
			return err
		}
		c, err := o.measurement(cmd, args[0], b)
		if err == nil {
			err = o.report.check("report")
		}
		if err != nil {
			return err
		}
		found, err := o.run(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return o.reported(cmd, found, err)
	}
	return cmd
}

// flags adds the flags that say what is measured, and those about how and where to.
func (o *sweepOptions) flags(cmd *cobra.Command) {
	o.subjectFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "directory for the results; an interrupted sweep continues there (default: results are not stored)")
	f.Var(&o.shard, "shard", "measure only part i of n, such as 2/3; auto/3: the part that a Slurm array or an Indexed Job of Kubernetes gives")
	f.IntVar(&o.sideBySide, "parallel", 0, "number of parallel runs (default: one per core in virtual time, otherwise one)")
	f.StringVar(&o.show, "show", "", "print the scenario of a point, or of a boundary at x such as 3@0.95, and run nothing")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else")
}

// subjectFlags adds the flags that say what is measured.
func (o *sweepOptions) subjectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.runs, "runs", 0, fmt.Sprintf("runs of each point; a point whose formula is 0 or 1 gets a tenth, at least 100 (default %d in virtual time, or the sweep's own number, otherwise %d)", exactRuns, realRuns))
	f.Uint64Var(&o.seed, "seed", 1, "first seed; all runs of all points use consecutive numbers")
	f.StringArrayVar(&o.vary, "vary", nil, "sweep over a field of a scenario: `PATH=VALUES`, such as lock.ttl=0.5s..5s, plan[0].end.after=0s..1.5s:31 or lock.kind=redlock,single-node")
	f.StringVar(&o.property, "property", "", "with --vary: the property to measure, by name or code (default: the first that the scenario expects to be violated, or lease)")
	f.Var(&o.points, "points", "measure only these points, by their numbers in the table: 1,7,12-14")
}

// measurement returns the measurement that the flags configure, or the error in them.
func (o *sweepOptions) measurement(cmd *cobra.Command, name string, b runner.Backend) (sweep.Measurement, error) {
	given := cmd.Flags().Changed
	for flag, n := range map[string]int{"runs": o.runs, "parallel": o.sideBySide} {
		if given(flag) && n < 1 {
			return sweep.Measurement{}, fmt.Errorf("--%s %d: want at least 1", flag, n)
		}
	}
	s, err := o.find(name)
	if err != nil {
		return sweep.Measurement{}, err
	}
	runs, parallel := realRuns, 1
	if b.Exact {
		runs, parallel = cmp.Or(s.Runs, exactRuns), sideBySide(b)
	}
	c := sweep.Measurement{
		Sweep: s, Backend: b, Versions: lastingVersions(b),
		Runs: cmp.Or(o.runs, runs), First: o.seed, SideBySide: cmp.Or(o.sideBySide, parallel),
		Only: o.points.sorted(), Shard: o.shard.Shard,
	}
	return c, c.Validate()
}

// find returns the sweep of a name, or over a scenario with --vary.
func (o *sweepOptions) find(name string) (sweep.Sweep, error) {
	switch {
	case len(o.vary) > 0:
		return o.ownSweep(name)
	case o.property != "":
		return sweep.Sweep{}, errors.New("--property needs --vary")
	case isFile(name):
		return sweep.Sweep{}, fmt.Errorf("%s: a scenario needs --vary, such as --vary lock.ttl=0.5s..5s", name)
	}
	return findSweep(name)
}

// run measures what is not measured yet, prints the results and returns them.
func (o *sweepOptions) run(ctx context.Context, c sweep.Measurement, out, problems io.Writer) (sweep.Results, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return sweep.Results{}, err
	}
	found := sweep.Results{Head: head}
	keep := func(sweep.Outcome) error { return nil }
	if o.out != "" {
		journal, err := sweep.OpenJournal(o.out, head)
		if err != nil {
			return found, fmt.Errorf("--out: %w", err)
		}
		defer func() { _ = journal.Close() }() // what is written is on the disk
		found.Head, found.Outcomes, keep = journal.Head(), slices.Clone(journal.Outcomes()), journal.Add
		if n := len(found.Outcomes); n > 0 {
			_, _ = fmt.Fprintf(problems, "%s already has %d of %s\n", o.out, n, textfmt.Count(head.Units(), "point"))
		}
	}
	if err := measure(ctx, c, &found, keep, problems); err != nil && !(ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		return found, err // and whoever stopped it is told what is known
	}
	if o.out != "" && found.Complete() && found.Shard.Of == 0 {
		if err := saveSweep(o.out, found); err != nil {
			return found, fmt.Errorf("--out: %w", err)
		}
	}
	return found, o.shard.made(found.Complete(), o.present(found, out))
}

// reported makes the page of the results.
func (o *sweepOptions) reported(cmd *cobra.Command, found sweep.Results, err error) error {
	return o.report.after(cmd, err, "sweep "+found.Sweep, func(_ context.Context, r *report.Report) error { return r.Campaign(found) })
}

// measure makes the runs, with progress on a terminal.
func measure(ctx context.Context, c sweep.Measurement, found *sweep.Results, keep func(sweep.Outcome) error, problems io.Writer) error {
	done := len(found.Outcomes)
	bar := terminal.NewBar(problems, "", int64(c.Work(done)), terminal.Pieces)
	defer bar.Done()
	at := func() {
		bar.Call("%s, point %d/%d, runs", c.Sweep.Name, min(len(found.Outcomes)+1, c.Units()), c.Units())
	}
	at()
	c.Step = bar.Steps
	return c.Run(ctx, done, func(o sweep.Outcome) error {
		if err := keep(o); err != nil {
			return err
		}
		found.Outcomes = append(found.Outcomes, o)
		at()
		return nil
	})
}

// saveSweep writes the files beside the journal of a finished measurement.
func saveSweep(dir string, r sweep.Results) error {
	if err := r.Save(dir); err != nil {
		return err
	}
	drawn, err := picture.Sweep(r)
	if err != nil {
		return err
	}
	if err := drawn.Save(dir, r.Sweep); err != nil {
		return err
	}
	var text strings.Builder
	if err := sweepPage(&text, r); err != nil {
		return err
	}
	return sweep.SaveSummary(dir, []byte(text.String()))
}

// present prints the results so far, and returns the matching exit code.
func (o *sweepOptions) present(r sweep.Results, out io.Writer) error {
	if o.json {
		if err := r.Print(out); err != nil {
			return err
		}
		return exitFor(fitting(r))
	}
	terminal.Fit(out)
	printSweep(out, r)
	switch {
	case r.Complete():
	case o.out == "":
		_, _ = fmt.Fprintf(out, "\n%s\n", stoppedLine)
	default:
		_, _ = fmt.Fprintf(out, "\n%s The same command continues from here.\n", stoppedLine)
	}
	return exitFor(fitting(r))
}

// fitting compares the results with the formulas.
func fitting(r sweep.Results) runner.Conclusion {
	conclusion := runner.AsExpected
	if !r.Complete() {
		conclusion = runner.Undecided
	}
	if !r.Fit().Good() {
		return runner.Contradiction
	}
	for _, o := range r.Outcomes {
		switch {
		case o.Point != nil && o.Point.Undecided > 0, o.Boundary != nil && o.Boundary.Open():
			conclusion = runner.Undecided
		case o.Boundary != nil && !o.Boundary.Met():
			return runner.Contradiction
		}
	}
	return conclusion
}

func newMerge() *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use:   "merge DIR…",
		Short: "Put together the shards of a sweep",
		Long: `Put together the shards of a sweep, made by "lockstorm sweep --shard i/n --out DIR".
The directory --out gets the same bytes as one run of the whole sweep. If shards are
missing, unfinished, present twice or of different sweeps, the command names them
and writes nothing.

Exit codes are those of sweep.`,
		Example: `  lockstorm merge runs/part1 runs/part2 --out runs/restart-delay`,
		Args:    takes(1, anyNumber),
	}
	cmd.Flags().StringVar(&o.out, "out", "", "directory for the whole sweep")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object, and nothing else")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if o.out == "" {
			return errors.New("--out: want a directory for the whole sweep")
		}
		if err := o.report.check("report"); err != nil {
			return err
		}
		bar := terminal.NewBar(cmd.ErrOrStderr(), "merging", 0, terminal.Steps)
		defer bar.Done()
		r, err := sweep.Merge(dirs)
		if err != nil {
			return err
		}
		if err := r.Keep(o.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		bar.Done()
		if err := saveSweep(o.out, r); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		return o.reported(cmd, r, o.present(r, cmd.OutOrStdout()))
	}
	return cmd
}
