package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newCompare() *cobra.Command {
	var o suiteOptions
	var locks []string
	var trial string
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Run all locks through the same trials, and compare what holds and what it costs",
		Long: `Run all locks through the same trials, and compare what holds and what it costs.
"lockstorm run compare-TRIAL-LOCK" repeats one lock in one trial. With --backend process
locks in a store run on real servers of that store.

A contradiction (exit code 1) is a lock that violates a property which the literature
says it keeps. If one does not violate what the literature says it violates, that is
undecided.`,
		Example: `  lockstorm compare
  lockstorm compare --trial crash --runs 1000
  lockstorm compare --lock etcd,zookeeper --backend process
  lockstorm compare --from results/reference --format markdown`,
		Args: takes(0, 0),
	}
	backend := backendFlags(cmd)
	o.flags(cmd, &comparison{})
	cmd.Flags().StringSliceVar(&locks, "lock", nil, "the locks to compare (default: all)")
	cmd.Flags().StringVar(&trial, "trial", "", "run this trial only (default: all)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case isEmptyList(cmd.Flags(), "lock"): // an empty variable of a script, maybe
			return errors.New("--lock: want at least one lock")
		case cmd.Flags().Changed("trial") && trial == "":
			return errors.New("--trial: want the name of a trial")
		}
		c, err := compared(locks, trial)
		if err != nil {
			return err
		}
		return o.command(cmd, backend, &c)
	}
	return cmd
}

// comparison is some locks in some trials, with the results so far.
type comparison struct {
	report.Comparison
	again []string // flags that repeat a run
	known
}

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

func (*comparison) file() string  { return results.CompareFile }
func (*comparison) title() string { return "the locks compared" }

// usual makes one run for each core at a time: a store that is slow because others run beside it
// violates L1.
func (*comparison) usual(b runner.Backend) (runs, parallel int) {
	if b.Exact {
		return 50, runtime.GOMAXPROCS(0)
	}
	return 3, runtime.GOMAXPROCS(0)
}

// tasks returns the scenarios to run, trial by trial, so that a stopped comparison has results of
// all locks.
func (c *comparison) tasks(o suiteOptions) (all []task) {
	for _, t := range c.Trials {
		for _, l := range c.Locks {
			all = append(all, task{t.Enter(l), o.seed, o.runs})
		}
	}
	return all
}

func (c *comparison) learn(now known, again []string) {
	c.known, c.Found, c.again = now, now.found, again
}

func (c *comparison) conclusion() runner.Conclusion { return c.Conclusion() }

func (c *comparison) fill(_ context.Context, page *report.Report, _ report.Side, _ keptRun) error {
	page.Comparison(c.Comparison, c.Versions, c.stopped)
	return nil
}

// print prints the results so far.
func (c *comparison) print(out io.Writer, format string) error {
	records := c.Records(c.Trials)
	switch format {
	case asJSON:
		return c.Print(out)
	case asCSV:
		return report.WriteCSV(out, c.Reference)
	case asMarkdown:
		p := &page{out: out}
		report.Matrix(records).Markdown(p)
		p.say("")
		for l := range strings.Lines(c.Legend(tail(c.again))) {
			p.say("- %s", strings.TrimSpace(l))
		}
		return p.err
	}
	terminal.Fit(out)
	printGroups(out, report.Matrix(records))
	_, _ = fmt.Fprintln(out)
	printTable(out, report.Firsts(records))
	_, _ = fmt.Fprintf(out, "\n%s\n", c.Legend(tail(c.again)))
	for _, d := range c.Deviations() {
		_, _ = fmt.Fprintln(out, d.Text)
	}
	c.printRest(out)
	return nil
}
