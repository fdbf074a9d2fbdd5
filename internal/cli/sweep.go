package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/show/picture"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/spf13/cobra"
)

// sweepOptions are the flags of sweep.
type sweepOptions struct {
	vary       []string
	formula    string
	property   string
	runs       int
	seed       uint64
	out        string
	shards     shardOptions
	points     numbers
	sideBySide int
	show       string
	format     string
	report     reportFile
}

// The default numbers of runs of a point.
const (
	exactRuns = 1000
	realRuns  = 5
)

func newSweep() *cobra.Command {
	o := sweepOptions{}
	cmd := &cobra.Command{
		Use:   "sweep [NAME|SCENARIO]",
		Short: "Measure how often a property is violated as a function of parameters",
		Long: `Measure how often a property is violated as a function of some parameters. Each point
of a sweep is a scenario, run with many seeds; the measured share has a Wilson 95 %
interval and is compared with a formula. Boundaries are located by bisection. Without
NAME, all sweeps are listed.

--vary makes a sweep over a SCENARIO (a name or a YAML file). A range has 11 evenly
spaced values, or as many as stand behind a colon. The first field with numbers is the
x axis; --vary again for further fields, whose values give curves. --formula draws what
you expect beside them, and compares it.

--out stores the runs. After an interruption the same command continues from there; when
all points are measured, it writes tables, pictures and a summary.
` + shardsHelp + `

"lockstorm run" repeats the runs of a point by its scenario's name. --show prints the
scenario of a point, or of a boundary at x, as a file that can be run.

A contradiction (exit code 1) is a formula that does not fit: it is outside of more than a
tenth of the intervals (rounded up), gives the count of a point a probability below 10⁻⁴,
or is not at the boundaries.`,
		Example: `  lockstorm sweep
  lockstorm sweep restart-delay --runs 10000 --out runs/restart-delay
  lockstorm sweep restart-delay --runs 10000 --shard 1/4 --out runs/shards
  lockstorm sweep restart-delay --runs 10000 --merge runs/shards --out runs/restart-delay
  lockstorm sweep restart-delay --backend process --points 1,7,12
  lockstorm sweep restart-boundary --show 3@0.95 >mine.yaml
  lockstorm list delayed-restart-at-0ms >point.yaml
  lockstorm sweep point.yaml --vary plan[1].end.after=0s..1.2s:13 --property V1 \
    --formula "1 - (fault_2_end_after + 0.004)/0.988 // a crash at any time of the validity"`,
		Args: takes(0, 1),
	}
	backend := backendFlags(cmd)
	o.flags(cmd)
	o.report.flag(cmd)
	cmd.MarkFlagsMutuallyExclusive("show", "report")
	cmd.MarkFlagsMutuallyExclusive("shard", "report")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && cmd.Flags().NFlag() > 0:
			return errors.New("name a sweep; without flags and name, all sweeps are listed")
		case len(args) == 0:
			return listSweeps(cmd.OutOrStdout())
		case o.formula == "" && cmd.Flags().Changed("formula"):
			return errors.New(`--formula "": want an expression`)
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
		c, err := o.measurement(args[0], b)
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

// flags adds the flags.
func (o *sweepOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.runs, "runs", 0, fmt.Sprintf("runs of each point; a point whose formula is 0 or 1 gets a tenth, at least 100 (default %d in virtual time, or the sweep's own number, otherwise %d)", exactRuns, realRuns))
	f.Uint64Var(&o.seed, "seed", 1, "first seed; all runs of all points use consecutive numbers")
	f.StringArrayVar(&o.vary, "vary", nil, "sweep over a field of a scenario: `PATH=VALUES`, such as lock.ttl=0.5s..5s, plan[0].end.after=0s..1.5s:31 or lock.kind=redlock,single-node")
	f.StringVar(&o.formula, "formula", "", "with --vary: the share of violated runs as an `EXPRESSION` of the varied fields, by their names in the table (durations in seconds), with + - * / min max pow exp log sqrt; behind // its source: max(0, 1 - fault_2_end_after/lock_ttl)")
	f.StringVar(&o.property, "property", "", "with --vary: the property to measure, by name or code (default: the first that the scenario expects to be violated, or lease)")
	f.Var(&o.points, "points", "measure only these points, by their numbers in the table: 1,7,12-14")
	f.StringVar(&o.out, "out", "", "directory for the results; an interrupted sweep continues there (default: results are not stored)")
	o.shards.flags(cmd)
	parallelFlag(cmd, &o.sideBySide)
	f.StringVar(&o.show, "show", "", "print the scenario of a point, or of a boundary at x such as 3@0.95, and run nothing")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
}

// measurement returns the measurement that the flags configure, or the error in them.
func (o *sweepOptions) measurement(name string, b runner.Backend) (sweep.Measurement, error) {
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
		Only: o.points.sorted(),
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
	case o.formula != "":
		return sweep.Sweep{}, errors.New("--formula needs --vary")
	}
	s, err := findSweep(name)
	if err != nil {
		if _, no := findScenario(name); no == nil || isFile(name) {
			err = fmt.Errorf("%s is a scenario: it needs --vary, such as --vary lock.ttl=0.5s..5s", name)
		}
	}
	return s, err
}

// run measures what is not measured yet, prints the results and returns them.
func (o *sweepOptions) run(ctx context.Context, c sweep.Measurement, out, problems io.Writer) (found sweep.Results, err error) {
	if found.Head, err = c.Head(); err != nil {
		return found, err
	}
	if o.out != "" && !o.shards.one() {
		if err := found.Free(o.out); err != nil {
			return found, fmt.Errorf("--out: %w", err)
		}
	}
	log, err := o.shards.log("sweep", o.out, found.Head)
	if err != nil {
		return found, err
	}
	defer func() { _ = log.Close() }() // records are written
	if err := measure(ctx, c, &found, log, problems); err != nil && !(ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		return found, err // and whoever stopped it is told what is known
	}
	if o.shards.one() {
		return found, o.shards.made(log, out)
	}
	if o.out != "" {
		if err := saveSweep(o.out, found); err != nil {
			return found, fmt.Errorf("--out: %w", err)
		}
	}
	return found, o.present(found, out)
}

// reported makes the page of the results.
func (o *sweepOptions) reported(cmd *cobra.Command, found sweep.Results, err error) error {
	return o.report.after(cmd, err, "sweep "+found.Sweep, func(_ context.Context, r *report.Report) error { return r.Campaign(found) })
}

// measure makes the runs, with progress on a terminal.
func measure(ctx context.Context, c sweep.Measurement, found *sweep.Results, log *shard.Log, problems io.Writer) error {
	bar := terminal.NewBar(problems, c.Sweep.Name+", blocks of runs", int64(c.Work(log)), terminal.Pieces)
	defer bar.Done()
	c.Step = bar.Step
	return c.Run(ctx, log, func(o sweep.Outcome) error {
		found.Outcomes = append(found.Outcomes, o)
		return nil
	})
}

// saveSweep writes the files of a measurement: if it is not finished, only the outcomes that are there.
func saveSweep(dir string, r sweep.Results) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if !r.Complete() {
		return r.SaveOutcomes(dir)
	}
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
	if o.format == asJSON {
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

// ownSweep makes the sweep of --vary over a scenario, by name or from a file.
func (o *sweepOptions) ownSweep(name string) (sweep.Sweep, error) {
	s, err := findScenario(name)
	if err != nil {
		return sweep.Sweep{}, err
	}
	property := checker.Lease
	expected := func(p checker.Property) bool { return s.Expect[p] == checker.Violated }
	if i := slices.IndexFunc(checker.Properties(), expected); i >= 0 && !expected(property) {
		property = checker.Properties()[i]
	}
	if o.property != "" {
		list, err := findProperties("property", []string{o.property})
		if err != nil {
			return sweep.Sweep{}, err
		}
		property = list[0]
	}
	var fields []varied
	command := "lockstorm sweep " + textfmt.Quoted(name)
	for _, text := range o.vary {
		v, err := parseVaried(text)
		if err != nil {
			return sweep.Sweep{}, err
		}
		if slices.ContainsFunc(fields, func(other varied) bool { return other.path == v.path }) {
			return sweep.Sweep{}, fmt.Errorf("--vary: %s is varied twice", v.path)
		}
		fields = append(fields, v)
		command += " --vary " + textfmt.Quoted(text)
	}
	if o.formula != "" {
		command += " --formula " + textfmt.Quoted(o.formula)
	}
	made, err := variedSweep(s, property, fields, o.formula)
	made.Command = command + " --property " + property.Code()
	return made, err
}
