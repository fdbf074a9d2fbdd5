package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/playground"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/inevitable"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	scenario string
	out      string
	trace    bool
	test     bool

	inevitable bool

	report reportFile
}

func newReplay() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay STRING|DIR|FILE|LINK",
		Short: "Repeat a simulated run exactly",
		Long: `Repeat a simulated run exactly: from the replay string that "lockstorm run" or
"lockstorm explore" prints, from the directory of a simulated run, from a case file
("lockstorm hunt" stores them), or from a link to a run in the playground. If the string
is of a scenario in a file, name that with --scenario. A repetition that differs from the
original, because the program or the scenario has changed, is a contradiction (exit code
1), too.

A case states the verdict of one property. It is as expected if the run still shows that,
even if the program has changed and the run with it. A case with "shows: violated"
therefore exits with 1 once the lock is repaired. Change it to "shows: holds", and it
guards against a regression.

--trace prints the run step by step: requests, replies, votes, windows, clocks, faults
and overlaps. --report draws it, message by message. --go prints a Go test of the run for
the package in this directory, which fails as long as the property is violated.

--inevitable shows the point of no return of a violated run: from its events, futures are
drawn, with other random numbers, and with each fault to come or without it. The share
that violates the property is its probability at that event. The events at which it jumps
are what decided, and a but-for table says what each fault has to do with it.`,
		Example: `  lockstorm replay v1.calm.52.g2.4.crash,partition,latency.ea35f65c.2efb
  lockstorm replay runs/crash-restart-sim-1 --trace | less
  lockstorm replay testdata/cases/redlock-lease-crash-restart.yaml
  lockstorm replay testdata/cases/redlock-lease-crash-restart.yaml --report crash.html
  lockstorm replay runs/crash-restart-sim-1 --inevitable
  lockstorm replay --go mine.yaml >lock_case_test.go`,
		Args: takes(1, 1),
	}
	cmd.Flags().StringVar(&o.scenario, "scenario", "", "file of the scenario that the replay string is of")
	cmd.Flags().StringVar(&o.out, "out", "runs", "directory for the run (a stored run is stored again only if you name one)")
	cmd.Flags().BoolVar(&o.trace, "trace", false, "print the run step by step")
	cmd.Flags().BoolVar(&o.test, "go", false, "print a Go test of the run, and nothing else")
	cmd.Flags().BoolVar(&o.inevitable, "inevitable", false, "show from which event on the violation was inevitable")
	o.report.flag(cmd)
	for _, f := range []string{"inevitable", "trace", "report"} {
		cmd.MarkFlagsMutuallyExclusive(f, "go")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(writableDir("--out", o.out), o.report.check("report")); err != nil {
			return err
		}
		r, err := findReplay(args[0], o.scenario)
		if err != nil {
			return err
		}
		if o.test {
			return r.test(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		if r.stored && !cmd.Flags().Changed("out") {
			o.out = ""
		}
		done, err := r.run(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return r.reported(cmd, done, err)
	}
	return cmd
}

// replay is a run to repeat.
type replay struct {
	again    repetition
	stored   bool // in a directory, and not only as a string, case or link
	scenario scenarios.Scenario
	seed     uint64
	course   runner.Course
	same     func(runner.Result) bool
	hash     string      // the trace hash of the first run, or its begin
	kept     *cases.Case // nil: nobody has said what the run shows
}

// findReplay reads a replay string, a link of the playground, the directory of a run or the file of a
// case. file has the scenario of the string; "": it is one of the table.
func findReplay(arg, file string) (replay, error) {
	arg = strings.TrimPrefix(strings.TrimSpace(arg), textfmt.Command("replay")+" ") // as it is printed
	if isLink(arg) {
		return replayOfLink(arg, file)
	}
	switch info, err := files.Stat(arg); {
	case file != "" && (err == nil || isCase(arg)):
		return replay{}, errors.New("--scenario is for a replay string: a stored run and a case have their scenario")
	case err == nil && info.IsDir():
		return replayOfDir(arg)
	case err == nil, isCase(arg):
		return replayOfCase(arg)
	case strings.ContainsRune(arg, filepath.Separator): // in no replay string
		return replay{}, err
	}
	text, err := runner.ParseReplay(arg)
	if err != nil {
		return replay{}, fmt.Errorf("%w, and there is no such file or directory", err)
	}
	s, err := scenarioOf(text, file)
	return replay{
		again:    repetition{name: text.Scenario, backend: backends[0].Backend, stormy: text.Generator != nil, inTable: file == "", known: true, part: text.Part},
		scenario: s,
		seed:     text.Seed,
		course:   text.Course,
		same:     text.Same,
		hash:     fmt.Sprintf("%08x", text.Trace),
	}, err
}

// isLink reports whether an argument is a link to a run in the playground.
func isLink(arg string) bool { return strings.Contains(arg, "#/run?") }

// replayOfLink reads a link of the playground, which has the scenario in it.
func replayOfLink(link, file string) (replay, error) {
	if file != "" {
		return replay{}, errors.New("--scenario is for a replay string: a link has its scenario")
	}
	_, fragment, _ := strings.Cut(link, "#")
	l, err := playground.FollowLink(playground.Fragment{Text: fragment})
	if err != nil {
		return replay{}, err
	}
	if l.Replay != "" {
		return findReplay(l.Replay, "")
	}
	s, err := scenarios.Parse([]byte(l.Scenario))
	return replay{
		again:    repetition{name: s.Name, backend: backends[0].Backend, known: true},
		scenario: s,
		seed:     l.Seed,
		same:     func(r runner.Result) bool { return strings.HasPrefix(results.Hash(r.TraceHash), l.Trace) },
		hash:     l.Trace,
	}, err
}

// scenarioOf returns the scenario that a replay string is of: one of the table, or that in a file.
func scenarioOf(r runner.Replay, file string) (scenarios.Scenario, error) {
	if file == "" {
		s, err := r.Find()
		if err != nil && r.Choices != nil {
			err = fmt.Errorf("%w (of a scenario in a file, name that with --scenario)", err)
		}
		return s, err
	}
	s, err := scenarios.Load(file, func(s scenarios.Scenario) error {
		if s.Name != r.Scenario {
			return fmt.Errorf("it is the scenario %q, and the replay string is of %q", s.Name, r.Scenario)
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("--scenario: %w", err)
	}
	return r.In(s)
}

func replayOfDir(dir string) (replay, error) {
	run, err := results.Load(dir)
	if err != nil {
		return replay{}, err
	}
	b, err := findBackend(run.Backend)
	switch {
	case run.TraceHash == "" && !run.Cut && err != nil: // a backend that only tests have
		where := ""
		text := filepath.Join(dir, external.FailureFile)
		if _, missing := os.Stat(text); missing == nil {
			where = fmt.Sprintf(" (%s has that command)", text)
		}
		return replay{}, fmt.Errorf("%s: a run of locktest on backend %s cannot be repeated exactly; go test with -locktest.witness repeats its plan and seed%s, and lockstorm report %s shows it", dir, run.Backend, where, textfmt.Quoted(dir))
	case run.TraceHash == "" && !run.Cut && run.Versions[commandVersion] != "":
		return replay{}, fmt.Errorf("%s: a run on real servers cannot be repeated exactly; lockstorm test --again %s -- %s repeats its plan and seed", dir, textfmt.Quoted(dir), run.Versions[commandVersion])
	case run.TraceHash == "" && !run.Cut:
		return replay{}, fmt.Errorf("%s: a run of the %s backend cannot be repeated exactly (lockstorm report %s shows it)", dir, run.Backend, textfmt.Quoted(dir))
	case err != nil:
		return replay{}, fmt.Errorf("%s: %w", dir, err)
	case !b.Exact:
		return replay{}, fmt.Errorf("%s: a run of the %s backend cannot be repeated exactly", dir, b.Name)
	case run.Cut:
		return replay{}, fmt.Errorf("%s: the run was interrupted, so it cannot be repeated exactly", dir)
	}
	return replay{
		again:    repetition{name: dir, backend: b.Backend, known: true},
		stored:   true,
		scenario: run.Scenario.Scenario,
		seed:     run.Seed,
		course:   run.Course,
		same:     func(r runner.Result) bool { return results.Hash(r.TraceHash) == run.TraceHash },
		hash:     run.TraceHash,
	}, nil
}

// prepare prepares the run.
func (r replay) prepare() (runner.Experiment, error) {
	e, err := prepareOn(r.again.backend, r.scenario)
	if err != nil && r.kept != nil {
		err = fmt.Errorf("%s: %w", r.again.name, form.In("scenario", err))
	}
	return e.WithCourse(r.course), err
}

func (r replay) run(ctx context.Context, o replayOptions, stdout, problems io.Writer) (ran, error) {
	e, err := r.prepare()
	if err != nil {
		return ran{}, err
	}
	var t *trace.Trace
	if o.trace {
		e, t = trace.Of(e)
	}
	terminal.Fit(stdout)
	done, err := runOptions{seed: r.seed, runs: 1, out: o.out, report: o.report}.run(ctx, e, r.again, stdout, problems)
	if err != nil {
		return done, err
	}
	if o.trace {
		if err := t.Print(stdout, r.about(done.last.Result)); err != nil {
			return done, err
		}
		_, _ = fmt.Fprintln(stdout)
	}
	last := r.printCase
	if r.kept == nil {
		if r.same(done.last.Result) || done.tally.Interrupted { // what another run shows was not asked
			done.print(stdout)
		}
		last = r.printSame
	}
	if err := r.decided(ctx, o, &done, stdout, problems); err != nil {
		return done, err
	}
	return done, last(stdout, done)
}

// printSame prints whether the run was the same, by its trace hash.
func (r replay) printSame(out io.Writer, done ran) error {
	if done.tally.Interrupted {
		return verdictError(exitUndecided)
	}
	printDeviations(out, done.last.Deviations)
	if is, was := r.hashes(done.last.Result); !r.same(done.last.Result) {
		_, _ = fmt.Fprintf(out, "not the same run: its trace hash is %s, was %s. The program or the scenario has changed, or the run is of a scenario in a file: --scenario FILE.\n", is, was)
		return verdictError(exitContradiction)
	}
	if r.hash == "" { // a link to a run that nobody had made yet
		_, _ = fmt.Fprintf(out, "the trace hash is %s\n", results.Hash(done.last.TraceHash))
	} else {
		_, _ = fmt.Fprintf(out, "the same run: its trace hash is %s\n", r.hash)
	}
	return exitFor(done.tally.Conclusion())
}

// hashes are the trace hashes of the repetition and of the first run, if known.
func (r replay) hashes(result runner.Result) (is, was string) {
	hash := results.Hash(result.TraceHash)
	return hash[:min(len(hash), len(r.hash))], r.hash
}

// about returns the finding that a trace of the run explains: that of the case, or the first
// violation.
func (r replay) about(result runner.Result) checker.Finding {
	if r.kept != nil {
		return result.Report.Finding(r.kept.Property)
	}
	for _, f := range result.Report.Findings {
		if f.Verdict == checker.Violated {
			return f
		}
	}
	return result.Report.Finding(checker.Lease)
}

// decided prints how the violation of the run became inevitable, if that is wanted.
func (r replay) decided(ctx context.Context, o replayOptions, done *ran, out, problems io.Writer) error {
	if !o.inevitable || done.tally.Interrupted {
		return nil
	}
	f := r.about(done.last.Result)
	line := terminal.NewBar(problems, "futures", 0, terminal.Told)
	defer line.Done()
	options := inevitable.Options{Futures: futures, Runs: inevitable.DefaultRuns, Messages: inevitable.DefaultMessages}
	a, err := inevitable.Analyse(ctx, r.again.backend, done.last.Executed(), r.seed, r.course, f.Property, options, func(now inevitable.Analysis) {
		if line.Due() {
			line.Say("")
			line.Left("%s runs from %s", textfmt.Grouped(now.Runs), textfmt.Count(len(now.Points), "event"))
		}
	})
	line.Done()
	if err != nil {
		return fmt.Errorf("--inevitable: %w", err)
	}
	if r.kept == nil {
		_, _ = fmt.Fprintln(out)
	}
	printInevitable(out, a)
	for i := range done.subjects {
		done.subjects[i].Inevitable = &a
	}
	return nil
}

// test prints a Go test of the case, or of the run's first violation.
func (r replay) test(ctx context.Context, out, problems io.Writer) error {
	if r.kept != nil {
		return r.kept.GoTestIn(out, packageHere())
	}
	e, err := r.prepare()
	if err != nil {
		return err
	}
	bar := terminal.NewBar(problems, r.again.name, 0, terminal.Steps)
	result, err := e.Run(ctx, r.seed, nil)
	bar.Done()
	switch f := r.about(result); {
	case err != nil:
		return err
	case result.Interrupted:
		return verdictError(exitUndecided)
	case !r.same(result):
		is, was := r.hashes(result)
		return fmt.Errorf("%s: not the same run: its trace hash is %s, was %s", r.again.name, is, was)
	case f.Verdict != checker.Violated:
		return fmt.Errorf("%s: the run violates no property that a test could check", r.again.name)
	default:
		return cases.New(result, f.Property).GoTestIn(out, packageHere())
	}
}

// packageHere returns the name of the Go package in the working directory, or else a name of ours.
func packageHere() string {
	here, _ := filepath.Glob("*.go")
	for _, file := range here {
		if f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name
		}
	}
	return cases.GoPackage
}

// isCase reports whether an argument can only be a file name.
func isCase(name string) bool { return filepath.Ext(name) == cases.Extension }

// replayOfCase reads the file of a case.
func replayOfCase(path string) (replay, error) {
	c, err := cases.Load(path)
	if err != nil {
		return replay{}, err
	}
	return replay{
		again:    repetition{name: path, backend: backends[0].Backend, known: true},
		scenario: c.Scenario,
		seed:     c.Seed,
		course:   c.Course,
		same:     c.Replay().Same,
		hash:     fmt.Sprintf("%08x", c.Trace),
		kept:     &c,
	}, nil
}

// reported makes the page of the run or of the case.
func (r replay) reported(cmd *cobra.Command, done ran, err error) error {
	if r.kept == nil {
		return done.reported(cmd, err)
	}
	title := report.TitleOf([]string{r.again.name})
	return done.options.report.after(cmd, err, title, func(ctx context.Context, page *report.Report) error {
		shown := report.SavedCase{Case: *r.kept, Path: r.again.name, Title: title}
		for _, s := range done.subjects {
			shown.Inevitable = s.Inevitable
		}
		return page.Cases(ctx, []report.SavedCase{shown})
	})
}

// printCase prints how a run compares with its case.
func (r replay) printCase(out io.Writer, done ran) error {
	c, f := r.kept, done.last.Report.Finding(r.kept.Property)
	conclusion, on := c.Judge(done.last.Result), terminal.On(out)
	_, _ = fmt.Fprintf(out, "%s: %s\n\n", r.again.name, colored(on, conclusion, againstCase(*c, f, conclusion)))
	_, _ = fmt.Fprintf(out, "%s %s (seed %d):\n", f.Property.Title(), on.Verdicts(f.Verdict.String()), c.Seed)
	tell(out, f.Lines()...)
	printDeviations(out, done.last.Deviations)
	if f.Story() != c.Story && c.Story != "" {
		_, _ = fmt.Fprintln(out, "\nStory in the case:")
		tell(out, c.Story)
	}
	if c.Notes != "" {
		_, _ = fmt.Fprintf(out, "\nNotes: %s\n", c.Notes)
	}
	done.printStored(out)
	if is, was := r.hashes(done.last.Result); r.same(done.last.Result) {
		_, _ = fmt.Fprintf(out, "the same run: its trace hash is %s\n", was)
	} else {
		_, _ = fmt.Fprintf(out, "not the stored run: its trace hash is %s, was %s. The program or the file has changed.\n", is, was)
	}
	return exitFor(conclusion)
}

// againstCase compares the run with the case in a line, and says what to do.
func againstCase(c cases.Case, f checker.Finding, conclusion runner.Conclusion) string {
	is := fmt.Sprintf("%s is %v", f.Property.Title(), f.Verdict)
	if f.Verdict == checker.Holds {
		is = f.Property.Title() + " holds"
	}
	switch {
	case conclusion == runner.AsExpected:
		return "as the case says, " + is
	case conclusion == runner.Undecided:
		return fmt.Sprintf("undecided: %s, but the case says %v", is, c.Shows)
	case f.Verdict == checker.Holds:
		return fmt.Sprintf("%s, but the case says %v. If the lock has been repaired, write %q into the case; it then guards against a regression", is, c.Shows, "shows: holds")
	}
	return fmt.Sprintf("%s, but the case says %v", is, c.Shows)
}
