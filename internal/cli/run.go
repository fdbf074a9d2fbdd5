package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// runOptions are the flags of run.
type runOptions struct {
	seed     uint64
	runs     int
	parallel int // runs at a time; 0: as suits the backend
	out      string
	format   string
	report   reportFile
}

func newRun() *cobra.Command {
	var o runOptions
	var given givenFaults
	var only bool // --check-only
	cmd := &cobra.Command{
		Use:   "run SCENARIO|@SUITE",
		Short: "Run a scenario, by name or from a YAML file, or a suite, and judge it",
		Long: `Run one scenario, by name or from a YAML file, and judge it. @debate, @compare and
@published are suites: their scenarios run as the commands debate and compare run theirs,
and results are stored only with --out.

Of many runs --out keeps the first, and the first that violates each property or leaves
it open. --format json and csv have every run, with its replay string and times in
nanoseconds.

--faults adds faults to each run, generated from its seed; "lockstorm list faults" names
the kinds. Expected verdicts apply only to the scenario's own fault plan: with generated
faults any violation is a contradiction. A violation is printed with the command that
repeats its run, and as a limit or a defect: whether the lock promises the property under
the plan.

A simulated run stops after as many events as the scenario allows, or when time no longer
advances. It then names the limit and the busy clients; properties that are not violated
are unknown.

On real servers a run for which the machine was too slow is discarded and made again, a
few times. If it is too slow each time, it does not count: no property holds in it and
none is violated. The summary names both numbers. It also says in how many runs no client
tried to acquire after the return of a crashed node ("not exercised").

--check-only checks any number of scenarios, also on standard input (-), without running
them. A valid one gets a line with its content and the properties without a bound. Each
mistake gets a line with file, line and reason. A warning names what would stop a
simulated run before its horizon.`,
		Example: `  lockstorm run crash-restart
  lockstorm run crash-restart --backend process --runs 20
  lockstorm run @published --backend process
  lockstorm run calm --faults all --runs 1000
  lockstorm run calm --faults partition,pause:3 --most 6 --runs 1000
  lockstorm run mine.yaml --seed 7 --format json
  lockstorm run mine.yaml yours.yaml --check-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			if only && len(args) > 0 {
				return nil
			}
			return scenarioName(cmd, args)
		},
	}
	backend := backendFlags(cmd)
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed of the first run; later runs use the following numbers")
	cmd.Flags().IntVar(&o.runs, "runs", 1, "number of runs")
	parallelFlag(cmd, &o.parallel)
	formatFlag(cmd, &o.format, tableFormats, ": a run a line in json and csv; markdown is for suites")
	cmd.Flags().StringVar(&o.out, "out", "runs", "directory for the stored runs, one directory each")
	cmd.Flags().BoolVar(&only, "check-only", false, "check the scenarios, and run nothing")
	o.report.flag(cmd)
	given.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if only {
			return checkOnly(cmd, backend, args)
		}
		if strings.HasPrefix(args[0], suiteMark) {
			return o.suite(cmd, backend, args[0])
		}
		if o.format == asMarkdown {
			return errors.New("--format markdown needs a suite, such as @debate")
		}
		b, err := backend.backend()
		if err == nil {
			err = cmp.Or(writableDir("--out", o.out), o.report.check("report"))
		}
		if err != nil {
			return err
		}
		e, err := prepare(args[0], b)
		if err != nil {
			return err
		}
		generator, err := given.generator(cmd, e.Scenario().World(), b)
		if err != nil {
			return err
		}
		if generator != nil {
			if e, err = prepareOn(b, runner.WithGenerator(e.Scenario(), *generator)); err != nil {
				return err
			}
		}
		_, other := scenarios.Find(args[0])
		again := repetition{name: args[0], backend: b, flags: givenWords(cmd.Flags(), but(oncePerRun...)), stormy: generator != nil, inTable: other == nil, inFile: isFile(args[0])}
		r, err := o.run(cmd.Context(), e, again, cmd.OutOrStdout(), cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if o.format == asText {
			r.print(cmd.OutOrStdout())
		}
		return r.reported(cmd, exitFor(r.tally.Conclusion()))
	}
	return cmd
}

// oncePerRun are the flags of run that the command which repeats one of its runs gives by itself, or
// that do not change the run.
var oncePerRun = []string{"seed", "runs", "parallel", "faults", "most", "format", "out", "report", colourFlag}

// ran is the results of runs.
type ran struct {
	options runOptions
	tally   runner.Tally
	last    stored
	kept    []string // the directories that stay stored
	list    failures

	subjects []runpage.Shown // of the report, if there is to be one
}

// reported makes the page of the runs.
func (r ran) reported(cmd *cobra.Command, err error) error {
	return r.options.report.after(cmd, err, r.tally.Scenario.Name, func(_ context.Context, page *report.Report) error {
		if r.tally.Runs != 1 {
			page.Lead = textfmt.Sentence(r.tally.Scenario.Name + ": " + headline(r.tally) + ".")
		}
		return page.Runs(r.subjects)
	})
}

// suite runs the suite that @NAME names.
func (o runOptions) suite(cmd *cobra.Command, backend *backendChoice, word string) error {
	of, err := findSuite(word)
	if err != nil {
		return err
	}
	for _, f := range []string{"faults", "most"} {
		if cmd.Flags().Changed(f) {
			return fmt.Errorf("--%s needs a scenario, not the suite %s", f, word)
		}
	}
	s := suiteOptions{seed: o.seed, parallel: o.parallel, format: o.format, report: o.report}
	if cmd.Flags().Changed("runs") {
		s.runs = o.runs
	}
	if cmd.Flags().Changed("out") {
		s.out = o.out
	}
	return s.command(cmd, backend, of)
}

// run runs the experiment. Unless the format is text, it prints each run.
func (o runOptions) run(ctx context.Context, e runner.Experiment, again repetition, out, problems io.Writer) (ran, error) {
	unit := terminal.Pieces
	if o.runs == 1 {
		unit = terminal.Steps
	}
	bar := terminal.NewBar(problems, e.Scenario().Name, int64(o.runs), unit)
	defer bar.Done()
	r := ran{options: o, list: failures{again: again, seen: map[checker.Property]bool{}}}
	printRun := o.printer(again, out)
	firsts := newFirsts(true)
	tally, err := batch{
		experiment: e,
		first:      o.seed,
		runs:       o.runs,
		parallel:   o.parallel,
		out:        o.out,
		each: func(one stored) {
			firsts.see(&one, false)
			if one.dir != "" {
				r.kept = append(r.kept, one.dir)
			}
			r.last = one
			bar.Step()
			r.list.add(one)
			if o.report.path != "" {
				r.subjects = append(r.subjects, runpage.Of(e, one.Result, one.dir, versions(e.Backend()), again.command(one)))
			}
			printRun(one)
		},
	}.run(ctx)
	bar.Done()
	r.tally = tally
	return r, err
}

// printer returns a function that prints each run, unless the format is text.
func (o runOptions) printer(again repetition, out io.Writer) func(stored) {
	lineOf := func(one stored) jsonLine {
		l := line(one)
		l.Replay = again.replay(one.Result)
		return l
	}
	switch o.format {
	case asJSON:
		return func(one stored) { _ = json.NewEncoder(out).Encode(lineOf(one)) } // the output keeps the error
	case asCSV:
		table := newRunTable(out)
		return func(one stored) { table.add(lineOf(one)) }
	}
	return func(stored) {}
}

// print prints the results of the runs.
func (r ran) print(out io.Writer) {
	terminal.Fit(out)
	printTally(out, r.tally)
	r.list.print(out)
	r.printStored(out)
}

// printStored prints the paths of the runs that are kept.
func (r ran) printStored(out io.Writer) {
	switch {
	case len(r.kept) == 0:
	case r.options.runs == 1:
		_, _ = fmt.Fprintf(out, "\nstored in %s\n", r.kept[0])
	default:
		_, _ = fmt.Fprintln(out)
		printProse(out, fmt.Sprintf("Stored in %s: %s. %s", r.options.out, textfmt.List(names(r.kept, filepath.Base)), keptRuns))
	}
}

// jsonLine is what --format json prints of a run.
type jsonLine struct {
	Scenario   string           `json:"scenario"`
	Backend    string           `json:"backend"`
	Seed       uint64           `json:"seed"`
	Verdicts   checker.Verdicts `json:"verdicts"`
	Expected   checker.Verdicts `json:"expected"`
	AsExpected bool             `json:"as_expected"`
	Grants     *int             `json:"grants,omitempty"` // nil: nothing was measured

	Measurements *checker.Measurements `json:"measurements,omitempty"`

	Cut string `json:"cut,omitempty"` // why the run did not go to its end

	// Slip is by how much things came late at most, in ns; Slipped: by more than is
	// allowed, so that the verdicts say nothing.
	Slip    time.Duration `json:"slip,omitempty"`
	Slipped bool          `json:"slipped,omitempty"`

	// ReturnUntried: no client tried to acquire after a node was back that the plan brings back.
	ReturnUntried bool `json:"return_untried,omitempty"`

	TraceHash string `json:"trace_hash,omitempty"`
	Dir       string `json:"dir,omitempty"`
	Replay    string `json:"replay,omitempty"` // of a simulated run; if the scenario is in a file, with --scenario
}

func line(r stored) jsonLine {
	l := jsonLine{
		Scenario:   r.Scenario.Name,
		Backend:    r.Backend,
		Seed:       r.Seed,
		Verdicts:   r.Report.Verdicts(),
		Expected:   checker.Verdicts(maps.Clone(r.Scenario.Expect)),
		AsExpected: r.AsExpected(),

		Cut:           r.Report.Cut,
		Slip:          r.SchedulingLag,
		Slipped:       r.Slipped(),
		ReturnUntried: r.ReturnUntried(),
		Dir:           r.dir,
	}
	if m := &r.Report.Measurements; measured(len(r.Report.Findings)) {
		l.Grants, l.Measurements = &m.Grants, m
	}
	if r.TraceHash != 0 {
		l.TraceHash = results.Hash(r.TraceHash)
	}
	if l.Expected == nil {
		l.Expected = checker.Verdicts{}
	}
	return l
}

// runTable prints a line of CSV for each run.
type runTable struct{ w *csv.Writer }

// newRunTable prints the head: the verdicts by property, and the measurements by their JSON names,
// with durations in nanoseconds.
func newRunTable(out io.Writer) runTable {
	t := runTable{csv.NewWriter(out)}
	head := []string{"scenario", "backend", "seed"}
	for _, p := range checker.Properties() {
		head = append(head, p.String())
	}
	head = append(head, "as_expected", "cut", "slip", "slipped")
	for _, f := range checker.NamedFigures() {
		head = append(head, f.Name)
	}
	t.write(append(head, "trace_hash", "dir", "replay", "lockstorm"))
	return t
}

// add prints a run. Measurements are empty if nothing was measured.
func (t runTable) add(l jsonLine) {
	line := []string{l.Scenario, l.Backend, strconv.FormatUint(l.Seed, 10)}
	for _, p := range checker.Properties() {
		line = append(line, l.Verdicts[p].String())
	}
	line = append(line, strconv.FormatBool(l.AsExpected), l.Cut, strconv.FormatInt(int64(l.Slip), 10), strconv.FormatBool(l.Slipped))
	for _, f := range checker.NamedFigures() {
		cell := ""
		if l.Measurements != nil {
			cell = strconv.FormatFloat(f.Of(*l.Measurements), 'f', -1, 64)
		}
		line = append(line, cell)
	}
	t.write(append(line, l.TraceHash, l.Dir, l.Replay, thisProgram()))
}

// write prints a line at once: a run may take minutes. The output keeps an error.
func (t runTable) write(line []string) {
	_ = t.w.Write(line)
	t.w.Flush()
}
