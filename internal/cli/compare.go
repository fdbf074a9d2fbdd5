package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	backend runner.Backend
	runs    int
	seed    uint64
	locks   []string // empty: all
	trial   string   // empty: all

	sideBySide int // runs at a time; 0: one for each core

	save    string
	format  string
	byTrial bool
	report  reportFile
}

func newCompare() *cobra.Command {
	var o compareOptions
	var from, beside string
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Run all locks through the same trials, and compare what holds and what it costs",
		Long: `Run all locks through the same trials, and compare what holds and what it costs.
"lockstorm run compare-TRIAL-LOCK" repeats one lock in one trial. With --backend process
locks in a store run on real servers of that store.

Exit codes: 1 a lock violated a property that the literature says it keeps; 3 a lock
did not violate a property that the literature says it violates.`,
		Example: `  lockstorm compare
  lockstorm compare --locks redlock,redlock-fenced --by-trial
  lockstorm compare --trial crash --runs 1000
  lockstorm compare --locks etcd,zookeeper --backend process
  lockstorm compare --from results/reference --format markdown
  lockstorm compare --from results/stores --beside results/reference`,
		Args: takes(0, 0),
	}
	backend := backendFlags(cmd)
	cmd.Flags().IntVar(&o.runs, "runs", 0, "runs of each lock in each trial (default 50 in virtual time, otherwise 3)")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "first seed")
	cmd.Flags().StringSliceVar(&o.locks, "locks", nil, "the locks to compare (default: all)")
	cmd.Flags().StringVar(&o.trial, "trial", "", "run this trial only (default: all)")
	cmd.Flags().BoolVar(&o.byTrial, "by-trial", false, "print a table for each trial")
	cmd.Flags().StringVar(&o.format, "format", asText, "text, markdown, json or csv (a line per scenario and property)")
	cmd.Flags().IntVar(&o.sideBySide, "parallel", 0, "number of parallel runs (default: one per core: a store that is slow because others run beside it violates L1)")
	cmd.Flags().StringVar(&o.save, "save", "", "directory for the results, "+results.CompareFile)
	o.report.flag(cmd)
	cmd.Flags().StringVar(&from, "from", "", "print the results saved in this directory, and run nothing")
	cmd.Flags().StringVar(&beside, "beside", "", "with --from: print, property by property, whether those results agree with the ones saved in this directory")
	for _, f := range []string{"backend", "clients", "runs", "seed", "save", "parallel"} {
		cmd.MarkFlagsMutuallyExclusive("from", f)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := compared(o.locks, o.trial)
		c.format, c.byTrial = o.format, o.byTrial
		if err == nil {
			o.backend, err = backend.backend()
		}
		if err == nil {
			err = cmp.Or(o.settle(cmd), o.report.check("report"))
		}
		if err == nil && beside != "" && from == "" {
			err = errors.New("--beside needs --from")
		}
		if err != nil {
			return err
		}
		if beside != "" {
			return c.printBeside(cmd.OutOrStdout(), from, beside)
		}
		if from != "" {
			err = presentStored(location{dir: from, file: results.CompareFile}, &c, cmd.OutOrStdout())
			return c.reported(cmd, o.report, err)
		}
		c.again = backend.words()
		s := c.suite(o.backend, o.seed, o.runs)
		s.sideBySide = cmp.Or(o.sideBySide, runtime.GOMAXPROCS(0))
		err = s.present(cmd.Context(), &c, location{dir: o.save, file: results.CompareFile}, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return c.reported(cmd, o.report, err)
	}
	return cmd
}

// reported makes the page of the results.
func (c comparison) reported(cmd *cobra.Command, to reportFile, err error) error {
	return to.after(cmd, err, "the locks compared", func(_ context.Context, r *report.Report) error {
		r.Comparison(c.Comparison, c.versions, c.stopped)
		return nil
	})
}

// part reports whether some locks or trials are left out.
func (o *compareOptions) part() bool { return len(o.locks) > 0 || o.trial != "" }

// settle checks the flags and fills in defaults. Of a comparison on real servers a part may be
// saved: no backend has servers for all locks.
func (o *compareOptions) settle(cmd *cobra.Command) error {
	switch {
	case isEmptyList(cmd.Flags(), "locks"): // an empty variable of a script, maybe
		return errors.New("--locks: want at least one lock")
	case cmd.Flags().Changed("trial") && o.trial == "":
		return errors.New("--trial: want the name of a trial")
	case cmd.Flags().Changed("runs") && o.runs < 1:
		return fmt.Errorf("--runs %d: want at least 1", o.runs)
	case cmd.Flags().Changed("parallel") && o.sideBySide < 1:
		return fmt.Errorf("--parallel %d: want at least 1", o.sideBySide)
	case o.save != "" && o.part() && o.backend.Exact:
		return errors.New("--save stores the whole comparison: leave out --locks and --trial")
	case o.runs == 0 && o.backend.Exact:
		o.runs = 50
	case o.runs == 0:
		o.runs = 3
	}
	return cmp.Or(checkFormat(o.format, tableFormats...), writableDir("--save", o.save))
}

// comparison is some locks in some trials, with the results so far.
type comparison struct {
	report.Comparison
	format  string
	byTrial bool
	again   []string // flags that repeat a run, if they are not those of the stored results
	known
}

// learn receives the results so far.
func (c *comparison) learn(now known) { c.known, c.Found = now, now.found }

// compared returns the comparison of the locks that are named, or of all, in one
// trial or in all.
func compared(locks []string, trial string) (comparison, error) {
	c := comparison{Comparison: report.Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials()}}
	if len(locks) > 0 {
		all := c.Locks
		name := func(l scenarios.Contender) string { return l.Name }
		if err := allKnown("lock", locks, names(all, name)); err != nil {
			return c, err
		}
		c.Locks = slices.DeleteFunc(slices.Clone(all), func(l scenarios.Contender) bool { return !slices.Contains(locks, l.Name) })
	}
	if trial != "" {
		all := c.Trials
		if err := allKnown("trial", []string{trial}, names(all, func(t scenarios.Trial) string { return t.Name })); err != nil {
			return c, err
		}
		c.Trials = slices.DeleteFunc(slices.Clone(all), func(t scenarios.Trial) bool { return t.Name != trial })
	}
	return c, nil
}

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = name(v)
	}
	return all
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

// suite returns the scenarios to run, trial by trial, so that a stopped comparison has results of
// all locks.
func (c comparison) suite(b runner.Backend, seed uint64, runs int) suite {
	s := suite{what: "compare", backend: b}
	for _, t := range c.Trials {
		for _, l := range c.Locks {
			s.tasks = append(s.tasks, task{Scenario: t.Enter(l), First: seed, Runs: runs})
		}
	}
	return s
}

// print prints the results so far.
func (c comparison) print(out io.Writer, reference results.Reference) error {
	if c.again == nil {
		c.again = report.BackendArgs(reference.Backend, reference.Versions)
	}
	switch c.format {
	case asJSON:
		return reference.Print(out)
	case asCSV:
		return report.WriteCSV(out, reference)
	case asMarkdown:
		return c.page(out, reference)
	}
	terminal.Fit(out)
	if c.byTrial {
		for _, t := range c.Trials {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Name, t.Summary)
			printGroups(out, report.Matrix(c.Records([]scenarios.Trial{t})))
			_, _ = fmt.Fprintln(out)
		}
	} else {
		records := c.Records(c.Trials)
		printGroups(out, report.Matrix(records))
		_, _ = fmt.Fprintln(out)
		printTable(out, report.Firsts(records))
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprintln(out, c.Legend(tail(c.again)))
	for _, d := range c.Deviations() {
		_, _ = fmt.Fprintln(out, d.Text)
	}
	for _, r := range c.refused {
		_, _ = fmt.Fprintf(out, "cannot be run: %v\n", r)
	}
	c.printStopped(out)
	return nil
}

// page is the comparison as a page of documentation.
func (c comparison) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out}
	p.say(`# The locks compared

Made by "make reference" from the results in results/reference; %s.
All locks go through the same trials on the %s backend: the same clients, and the same plan as far as what the lock is kept on allows.`, madeWith(reference.Versions), reference.Backend)
	p.say("\n## All trials together")
	records := c.Records(c.Trials)
	p.table(report.Matrix(records))
	for l := range strings.Lines(c.Legend(tail(c.again))) {
		p.say("- %s", strings.TrimSpace(l))
	}
	p.table(report.Firsts(records))
	for _, d := range c.Deviations() {
		p.say("\n%s.", textfmt.Sentence(d.Text))
	}
	p.contenders(c.Locks)
	for _, t := range c.Trials {
		p.trial(t, c.Records([]scenarios.Trial{t}))
	}
	return p.err
}

// contenders describes the locks.
func (p *page) contenders(locks []scenarios.Contender) {
	p.say("\n## The locks\n")
	for _, l := range locks {
		p.say("- **%s**: %s. `%s`%s", l.Name, l.Summary, l.Lock.Words(), after(scenarios.Remark("compare-"+l.Name)))
	}
}

// after returns a remark to be appended to a line.
func after(remark string) string {
	if remark == "" {
		return ""
	}
	return " *" + remark + "*"
}

// trial is the section on one trial; the plan is that of the first lock.
func (p *page) trial(t scenarios.Trial, records []report.Record) {
	p.say("\n## Trial: %s\n\n%s.", t.Name, textfmt.Sentence(t.Summary))
	if len(records) == 0 {
		return
	}
	if plan := records[0].Shown[0].Scenario.Plan; len(plan) > 0 {
		p.say("")
		p.plan("Plan for "+records[0].Lock.Name, plan)
	}
	p.say("")
	report.Matrix(records).Markdown(p)
}
