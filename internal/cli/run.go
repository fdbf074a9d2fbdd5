package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/runpage"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// runOptions are the flags of run.
type runOptions struct {
	seed uint64
	runs int
	most int // events; 0: as the scenario says
	out  string

	format string

	report reportFile
}

func newRun() *cobra.Command {
	var o runOptions
	var given givenFaults
	var objects, only bool // --json, --check-only
	cmd := &cobra.Command{
		Use:   "run SCENARIO|@SUITE",
		Short: "Run a scenario, by name or from a YAML file, or a suite, and judge it",
		Long: `Run one scenario, by name or from a YAML file, and judge it. @debate, @compare and
@published are suites: their scenarios run as the commands debate and compare run theirs,
and results are stored only with --out.

--faults adds faults to each run, generated from its seed; "lockstorm list" names the
kinds. Expected verdicts apply only to the scenario's own fault plan: with generated
faults any violation exits with 1. A violation is printed with the command that repeats
its run, and as a limit or a defect: whether the lock promises the property under the
plan. --json has the replay string of each run.

A simulated run stops after --max-events, or when time no longer advances. It then
names the limit and the busy clients; properties that are not violated are unknown,
and the exit code is 3 unless one was violated.

On real servers a run for which the machine was too slow is discarded and made again, a
few times. If it is too slow each time, it does not count: no property holds in it and
none is violated, and the exit code is 3 unless another run contradicts what is
expected. The summary names both numbers. It also says in how many runs no client tried
to acquire after the return of a crashed node ("not exercised").

--check-only checks any number of scenarios, also on standard input (-), without running
them. A valid one gets a line with its content and the properties without a bound. Each
mistake gets a line with file, line and reason. A warning names what would stop a
simulated run before its horizon. The exit code is 2 if one is not valid.`,
		Example: `  lockstorm run crash-restart
  lockstorm run crash-restart --backend process --runs 20
  lockstorm run @published --backend process
  lockstorm run calm --faults all --runs 1000
  lockstorm run calm --faults partition,pause:3 --most 6 --runs 1000
  lockstorm run mine.yaml --seed 7 --json
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
	cmd.Flags().IntVar(&o.most, "max-events", 0, "maximum number of events of a simulated run (default: the scenario's limit, or 20 million)")
	cmd.Flags().BoolVar(&objects, "json", false, "print one JSON object per line for each run, and nothing else")
	cmd.Flags().StringVar(&o.format, "format", asText, "text, json (as --json), or csv: a line per run with its verdicts and measurements")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	cmd.Flags().StringVar(&o.out, "out", "runs", "directory for the stored runs, one directory each")
	cmd.Flags().BoolVar(&only, "check-only", false, "check the scenarios, and run nothing")
	o.report.flag(cmd)
	given.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if only {
			return checkOnly(cmd, backend, args)
		}
		if o.runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", o.runs)
		}
		if objects {
			o.format = asJSON
		}
		if strings.HasPrefix(args[0], suiteMark) {
			return o.suite(cmd, backend, args[0])
		}
		if err := checkFormat(o.format, asText, asJSON, asCSV); err != nil {
			return err
		}
		b, err := backend.backend()
		if err == nil {
			err = cmp.Or(writableDir("--out", o.out), o.report.check("report"))
		}
		if err != nil {
			return err
		}
		if given := cmd.Flags().Changed("max-events"); given && o.most < 1 {
			return fmt.Errorf("--max-events %d: want at least 1", o.most)
		}
		e, err := prepare(args[0], b)
		if err != nil {
			return err
		}
		s := e.Scenario()
		if o.most > 0 {
			s.MaxEvents = o.most
			if e, err = prepareOn(b, s); err != nil {
				return err
			}
		}
		generator, err := given.generator(cmd, s.World(), b)
		if err != nil {
			return err
		}
		if generator != nil {
			if e, err = prepareOn(b, runner.WithGenerator(s, *generator)); err != nil {
				return err
			}
		}
		_, other := scenarios.Find(args[0])
		again := repetition{name: args[0], backend: b, flags: givenWords(cmd.Flags(), but(oncePerRun...)), stormy: generator != nil, inTable: other == nil && o.most == 0, inFile: isFile(args[0]) && o.most == 0}
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
var oncePerRun = []string{"seed", "runs", "faults", "most", "json", "format", "out", "report", colourFlag}

// stored is a result and the directory that it was stored in.
type stored struct {
	runner.Result
	dir string
}

// ran is the results of runs.
type ran struct {
	options runOptions
	tally   runner.Tally
	last    stored
	list    failures

	deviations []runner.Deviation // of a run with choices that is repeated

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
	for _, f := range []string{"faults", "most", "max-events"} {
		if cmd.Flags().Changed(f) {
			return fmt.Errorf("--%s needs a scenario, not the suite %s", f, word)
		}
	}
	s := suiteOptions{seed: o.seed, format: o.format, report: o.report}
	if cmd.Flags().Changed("runs") {
		s.runs = o.runs
	}
	if cmd.Flags().Changed("out") {
		s.out = o.out
	}
	return s.command(cmd, backend, of)
}

// run runs the experiment. With --json it prints each run.
func (o runOptions) run(ctx context.Context, e runner.Experiment, again repetition, out, problems io.Writer) (ran, error) {
	unit := terminal.Pieces
	if o.runs == 1 {
		unit = terminal.Steps
	}
	bar := terminal.NewBar(problems, e.Scenario().Name, int64(o.runs), unit)
	defer bar.Done()
	r := ran{options: o, list: failures{again: again, seen: map[checker.Property]bool{}}}
	printRun := o.printer(again, out)
	tally, err := batch{
		experiment: e,
		first:      o.seed,
		runs:       o.runs,
		out:        o.out,
		each: func(one stored) {
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

// printStored prints the paths of the runs.
func (r ran) printStored(out io.Writer) {
	if r.last.dir != "" {
		_, _ = fmt.Fprintf(out, "\nstored in %s\n", storedIn(r.options, r.last))
	}
}

func storedIn(o runOptions, last stored) string {
	if o.runs == 1 {
		return last.dir
	}
	return o.out
}

// batch is a [runner.Batch] whose runs are stored, if out is not empty.
type batch struct {
	experiment runner.Experiment
	first      uint64
	runs       int
	out        string
	each       func(stored)
}

func (b batch) run(ctx context.Context) (runner.Tally, error) {
	batch, err := b.prepare()
	if err != nil {
		return runner.Tally{}, err
	}
	return batch.Run(ctx)
}

// prepare makes the [runner.Batch].
func (b batch) prepare() (runner.Batch, error) {
	var dirs sync.Map // by seed
	batch := runner.Batch{Experiment: b.experiment, First: b.first, Runs: b.runs}
	if b.out != "" {
		keeper, err := results.NewKeeper(b.out, b.experiment, versions(b.experiment.Backend()))
		if err != nil {
			return batch, err
		}
		batch.One = func(ctx context.Context, seed uint64) (runner.Result, error) {
			r, dir, err := keeper.Run(ctx, seed)
			dirs.Store(seed, dir)
			return r, err
		}
	}
	batch.Each = func(r runner.Result) {
		dir, _ := dirs.LoadAndDelete(r.Seed)
		path, _ := dir.(string)
		b.each(stored{r, path})
	}
	return batch, nil
}

// jsonLine is what --json prints of a run.
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
