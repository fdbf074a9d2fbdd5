package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// debateOptions are the flags of debate.
type debateOptions struct {
	backend runner.Backend
	again   []string // the flags that chose the backend
	runs    int      // of each row
	points  int      // of each point of a series; 0: no series
	seed    uint64
	out     string
	keep    string // which runs out gets
	save    string
	renew   bool // rows that were saved before stay, but for those that are run
	show    shown
	report  reportFile

	sideBySide int // runs at a time; 0: as many as suit the backend
}

// shown is the flags about printing.
type shown struct {
	format string
	short  bool
}

func (s *shown) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.format, "format", asText, "text, markdown, json or csv (a line per scenario and property)")
	cmd.Flags().BoolVar(&s.short, "short", false, "print only the main table")
}

func newDebate() *cobra.Command {
	var o debateOptions
	var from string
	cmd := &cobra.Command{
		Use:   "debate [ROW…]",
		Short: "Run every row of the debate and compare claims, expectations and what was seen",
		Long: `Run all rows of the debate, or the named ones, and compare the claims, the expected
verdicts and the observed ones. A row is one scenario, or a series: one scenario at
several values of a parameter. "lockstorm run" repeats each of them.`,
		Example: `  lockstorm debate
  lockstorm debate crash-restart pause-then-write --runs 1000
  lockstorm debate --backend process
  lockstorm debate --from results/reference --format markdown`,
	}
	backend := backendFlags(cmd)
	cmd.Flags().IntVar(&o.runs, "runs", 0, "runs of each row (default 100 in virtual time, otherwise 3)")
	cmd.Flags().IntVar(&o.points, "points", 0, "runs of each point of a series (default half as many; on real servers only named series are run)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "first seed")
	o.show.flags(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "directory for the stored runs, one directory each (default: runs are not stored)")
	cmd.Flags().StringVar(&o.keep, "keep", keepFirst, "which runs --out stores: "+keepFirst+" (the first run of each row that violates a property or leaves it open) or "+keepAll)
	cmd.Flags().IntVar(&o.sideBySide, "parallel", 0, "number of parallel runs (default: one per core, on real servers four, in containers one in all)")
	cmd.Flags().StringVar(&o.save, "save", "", "directory for the results, "+results.DebateFile+"; if rows are named, they replace those rows of a debate that is saved there")
	cmd.Flags().StringVar(&from, "from", "", "print the results saved in this directory, and run nothing")
	o.report.flag(cmd)
	o.report.most = math.MaxInt // each row that violates something has a run
	for _, f := range []string{"backend", "clients", "runs", "points", "parallel", "seed", "out", "save"} {
		cmd.MarkFlagsMutuallyExclusive("from", f)
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) (err error) {
		if o.backend, err = backend.backend(); err != nil {
			return err
		}
		o.again = backend.words()
		d, err := choose(names)
		if err == nil {
			err = cmp.Or(o.settle(cmd, names), o.report.check("report"))
		}
		if err != nil {
			return err
		}
		d.show = o.show
		if from != "" {
			side, err := loadSide(from)
			if err == nil {
				err = presentStored(location{dir: from, file: results.DebateFile}, &d, cmd.OutOrStdout())
			}
			return d.reported(cmd, o.report, side, nil, err)
		}
		s, kept := o.suite(d), storedRuns{}
		s.each = kept.see
		if o.keep == keepFirst {
			s.each = firsts{kept: kept, seen: map[scenarioVerdict]bool{}}.see
		}
		err = o.run(cmd.Context(), &d, s, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return d.reported(cmd, o.report, report.Side{Backend: o.backend, Found: d.found, First: s.firstSeeds(), Versions: versions(o.backend)}, kept.dir, err)
	}
	return cmd
}

// settle checks the flags and fills in defaults.
func (o *debateOptions) settle(cmd *cobra.Command, names []string) error {
	for flag, n := range map[string]int{"runs": o.runs, "points": o.points} {
		if cmd.Flags().Changed(flag) && n < 1 {
			return fmt.Errorf("--%s %d: want at least 1", flag, n)
		}
	}
	o.fill(names)
	if err := checkFormat(o.show.format, tableFormats...); err != nil {
		return err
	}
	switch {
	case cmd.Flags().Changed("parallel") && o.sideBySide < 1:
		return fmt.Errorf("--parallel %d: want at least 1", o.sideBySide)
	case o.keep != keepFirst && o.keep != keepAll:
		return fmt.Errorf("--keep %q: want %s or %s", o.keep, keepFirst, keepAll)
	case cmd.Flags().Changed("keep") && o.out == "":
		return errors.New("--keep needs --out")
	}
	if o.save != "" && len(names) > 0 {
		_, err := results.LoadReference(o.save, results.DebateFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--save with named rows updates the debate that is saved there: %w", err)
		}
		o.renew = err == nil
	}
	return cmp.Or(writableDir("--out", o.out), writableDir("--save", o.save))
}

// fill sets the numbers of runs that were not given.
func (o *debateOptions) fill(names []string) {
	if o.runs == 0 {
		o.runs = 3
		if o.backend.Exact {
			o.runs = 100
		}
	}
	if o.points == 0 && (o.backend.Exact || len(names) > 0) {
		o.points = (o.runs + 1) / 2
	}
}

// debate is some rows and series, with the results so far.
type debate struct {
	topics []scenarios.Topic
	show   shown
	again  []string   // flags that repeat a run, if they are not those of the stored results
	main   *mainTable // nil: nothing of it is printed yet
	known
}

// choose returns the debate on the rows and series that are named, or on all.
func choose(names []string) (debate, error) { return among(scenarios.Topics(), names) }

func among(topics []scenarios.Topic, names []string) (debate, error) {
	all := debate{topics: topics}
	if len(names) == 0 {
		return all, nil
	}
	known := all.names()
	if err := allKnown("row", names, known); err != nil {
		if file := slices.IndexFunc(names, isFile); file >= 0 {
			err = fmt.Errorf("%s: a row is wanted, not a file: use lockstorm run", names[file])
		}
		return debate{}, err
	}
	var d debate
	for _, t := range topics {
		t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r scenarios.Row) bool { return !slices.Contains(names, r.Name) })
		t.Series = slices.DeleteFunc(slices.Clone(t.Series), func(s scenarios.Series) bool { return !slices.Contains(names, s.Name) })
		if len(t.Rows)+len(t.Series) > 0 {
			d.topics = append(d.topics, t)
		}
	}
	return d, nil
}

// names lists rows and series; some are both.
func (d debate) names() []string {
	var all []string
	for _, s := range d.rows() {
		all = append(all, s.Name)
	}
	for _, s := range d.series() {
		if !slices.Contains(all, s.Name) {
			all = append(all, s.Name)
		}
	}
	return all
}

func (d debate) rows() (all []scenarios.Scenario) {
	for _, t := range d.topics {
		for _, r := range t.Rows {
			all = append(all, r.Scenario)
		}
	}
	return all
}

func (d debate) series() (all []scenarios.Series) {
	for _, t := range d.topics {
		all = append(all, t.Series...)
	}
	return all
}

// suite returns the scenarios to run, in the order of the main table.
func (o debateOptions) suite(d debate) suite {
	s := suite{what: "debate", backend: o.backend, sideBySide: o.sideBySide, out: o.out}
	for _, t := range d.topics {
		for _, r := range t.Rows {
			s.tasks = append(s.tasks, task{Scenario: r.Scenario, First: o.seed, Runs: o.runs})
		}
		for _, series := range t.Series {
			for _, p := range series.Points {
				if o.points > 0 {
					s.tasks = append(s.tasks, task{Scenario: p.Scenario, First: o.seed, Runs: o.points})
				}
			}
		}
	}
	return s
}

// firstSeeds returns the first seed of each scenario.
func (s suite) firstSeeds() map[string]uint64 {
	first := map[string]uint64{}
	for _, t := range s.tasks {
		first[t.Scenario.Name] = t.First
	}
	return first
}

// run runs the debate, saves it if requested, and prints it.
func (o debateOptions) run(ctx context.Context, d *debate, s suite, out, problems io.Writer) error {
	d.again = o.again
	if o.show.format == asText && terminal.On(out).Terminal { // elsewhere a reader that goes early ends nothing
		s.begin = d.live(out)
	}
	return s.present(ctx, d, location{o.save, results.DebateFile, o.renew}, out, problems)
}

// reported makes the page of the results of a backend.
func (d debate) reported(cmd *cobra.Command, to reportFile, s report.Side, kept func(scenario, backend string, seed uint64) string, err error) error {
	return to.after(cmd, err, "the debate on "+s.Name, func(ctx context.Context, r *report.Report) error {
		return r.Debate(ctx, report.Debate{Topics: d.topics, Sides: []report.Side{s}, StoredRun: kept, Stopped: d.stopped})
	})
}

// finding is a row with its results.
type finding struct {
	row   scenarios.Row
	tally runner.Tally
}

// findings returns the rows and series that have results.
func (d debate) findings(topics ...scenarios.Topic) (rows []finding, curves []report.Curve) {
	for _, topic := range topics {
		for _, r := range topic.Rows {
			if t, ok := d.found[r.Name]; ok {
				rows = append(rows, finding{r, t})
			}
		}
		for _, s := range topic.Series {
			if c := d.found.Curve(s); len(c.Tallies) > 0 {
				curves = append(curves, c)
			}
		}
	}
	return rows, curves
}

// Conclusion returns the worst conclusion of all rows. A debate without rows decides nothing.
func (d debate) Conclusion() runner.Conclusion {
	var known []runner.Tally
	rows, curves := d.findings(d.topics...)
	for _, r := range rows {
		known = append(known, r.tally)
	}
	for _, c := range curves {
		known = append(known, c.Tallies...)
	}
	return summary.Worst(known)
}
