package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ciOptions are the flags of ci.
type ciOptions struct {
	budget      time.Duration
	suites      []string
	cases       []string
	rows        []string
	runs        int
	backend     runner.Backend
	world       string // the flags that chose the backend
	hunt        huntOptions
	out         string
	junit       string
	summary     string
	annotations bool
}

// The suites of ci in the order in which they run. The fastest, whose failures are the clearest,
// comes first. The hunt gets the remaining time.
const (
	casesSuite  = "cases"
	debateSuite = "debate"
	huntSuite   = "hunt"
)

// ciFlags are the flags that belong to one suite.
var ciFlags = map[string][]string{
	casesSuite:  {"cases"},
	debateSuite: {"rows", "runs", "backend", "clients"},
	huntSuite:   {"lock", "assume", "seed", "hunt-runs"},
}

const (
	// usualCases is the default directory of saved cases.
	usualCases = "testdata/cases"
	// The environment variables by which GitHub Actions identifies a step and names its summary file.
	onGitHub      = "GITHUB_ACTIONS"
	gitHubSummary = "GITHUB_STEP_SUMMARY"
)

func newCI() *cobra.Command {
	var o ciOptions
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "Run saved cases, the debate and a hunt within a budget, and tell a CI system",
		Long: `Run saved cases, the debate and a hunt within a budget, one after the other, and write
what came of it as a JUnit file, as a summary in Markdown and as annotations of GitHub.
Each check that fails has the one command that repeats it; what tells of it (cases,
histories, pictures) is kept in --out, which is made only if there is something to keep.

Cases are those in the files of --cases; each has to show what it says. Of the debate
all rows are run, or those of --rows, where scenario files of yours can stand too: each
has to show what it expects. The hunt gets the time that is left. It looks for what the
lock does not keep of its promises (--assume has what hunt's has), and shrinks what it
finds, for which it may go on for some seconds more. --seed makes it hunt elsewhere;
cases and debate are the same each time.

What there was no time for is told, and is no pass. Ctrl-C ends it early: the files are
written, and what was not run is told in them.

Exit codes: 0 as expected; 1 a case or a row contradicts what it should show, or the
hunt has found something; 2 bad usage or input, or something could not be run; 3
undecided: something was left open, or the time was over before everything was run.`,
		Example: `  lockstorm ci
  lockstorm ci --budget 20m --seed $BUILD_NUMBER --junit junit.xml
  lockstorm ci --suites cases,debate --rows crash-restart,mine.yaml --runs 50
  lockstorm ci --suites hunt --lock single-node --hunt-runs 20000`,
		Args: cobra.NoArgs,
	}
	backend := o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if o.backend, err = backend.backend(); err != nil {
			return err
		}
		o.world = backend.words()
		if err := o.settle(cmd); err != nil {
			return err
		}
		stages, err := o.stages()
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), stages, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// flags declares the flags.
func (o *ciOptions) flags(cmd *cobra.Command) *backendChoice {
	o.hunt = huntOptions{faults: string(nemesis.AllKinds), most: usualMost, guidance: string(fuzz.Full)}
	f := cmd.Flags()
	f.DurationVar(&o.budget, "budget", 5*time.Minute, "how long all of it may take")
	f.Lookup("budget").DefValue = textfmt.Whole(o.budget)
	f.StringSliceVar(&o.suites, "suites", []string{casesSuite, debateSuite, huntSuite}, "what is run")
	f.StringSliceVar(&o.cases, "cases", nil, "files of cases, and directories of them (default "+usualCases+", if it is there)")
	f.StringSliceVar(&o.rows, "rows", nil, "rows and series of the debate, and files of scenarios (default: the whole debate)")
	f.IntVar(&o.runs, "runs", 0, "runs of each row (default 100 where runs are exact, otherwise 3)")
	f.StringVar(&o.hunt.lock, "lock", defaultLock, `kind of lock that is hunted, as "lockstorm list" names it`)
	f.StringVar(&o.hunt.assumed, "assume", promisedWord, `what the hunt takes for granted: a file, "`+promisedWord+`" for what the lock promises under, or nothing`)
	f.Uint64Var(&o.hunt.seed, "seed", 1, "seed of the hunt")
	f.IntVar(&o.hunt.runs, "hunt-runs", 0, "how many runs the hunt makes at most (default: as many as there is time for)")
	f.StringVar(&o.out, "out", "counterexamples", "directory that gets what tells of a failure")
	f.StringVar(&o.junit, "junit", "", "file that gets a report in JUnit's XML")
	f.StringVar(&o.summary, "summary", "", "file that a summary in Markdown is appended to (default $"+gitHubSummary+")")
	f.BoolVar(&o.annotations, "annotations", false, "print annotations for GitHub (default: if $"+onGitHub+" is true)")
	return backendFlags(cmd)
}

// settle checks the flags and fills in defaults.
func (o *ciOptions) settle(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case o.budget <= 0:
		return fmt.Errorf("--budget %v: want more than 0", o.budget)
	case given("runs") && o.runs < 1:
		return fmt.Errorf("--runs %d: want at least 1", o.runs)
	case given("hunt-runs") && o.hunt.runs < 1:
		return fmt.Errorf("--hunt-runs %d: want at least 1", o.hunt.runs)
	case given("cases") && len(o.cases) == 0: // an empty variable of a script, maybe
		return errors.New("--cases: none are named")
	case given("rows") && len(o.rows) == 0:
		return errors.New("--rows: none are named")
	case o.out == "":
		return errors.New("--out: want a directory")
	}
	if err := o.settleSuites(given); err != nil {
		return err
	}
	if !given("summary") {
		o.summary = os.Getenv(gitHubSummary)
	}
	if !given("annotations") {
		o.annotations = os.Getenv(onGitHub) == "true"
	}
	o.hunt.budget, o.hunt.out = o.budget, filepath.Join(o.out, "cases")
	return errors.Join(writableDir("--out", o.out), writableFile("--junit", o.junit), writableFile("--summary", o.summary))
}

// settleSuites checks the selected suites, and that no flag belongs to another one.
func (o *ciOptions) settleSuites(given func(flag string) bool) error {
	all := []string{casesSuite, debateSuite, huntSuite}
	if len(o.suites) == 0 {
		return fmt.Errorf("--suites: none is named: there is %s", strings.Join(all, ", "))
	}
	if err := allKnown("suite", o.suites, all); err != nil {
		return fmt.Errorf("--suites: %w", err)
	}
	for _, s := range all {
		for _, flag := range ciFlags[s] {
			if given(flag) && !slices.Contains(o.suites, s) {
				return fmt.Errorf("--%s is about the %s, which --suites leaves out", flag, s)
			}
		}
	}
	return nil
}

// stage is one suite of ci, ready to run: its input has been checked. It returns the results so far
// even if something could not be run.
type stage func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error)

// stages makes the selected stages.
func (o *ciOptions) stages() ([]stage, error) {
	var all []stage
	for _, s := range []struct {
		name string
		make func() (stage, error)
	}{{casesSuite, o.caseStage}, {debateSuite, o.rowStage}, {huntSuite, o.huntStage}} {
		if !slices.Contains(o.suites, s.name) {
			continue
		}
		one, err := s.make()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// deadline returns the end of the budget.
type deadline struct {
	at     time.Time
	budget time.Duration
}

// limit returns a context that ends with ctx or when the budget is spent.
func (d deadline) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, d.at, fmt.Errorf("the budget of %s was spent: a longer --budget, or fewer --runs, make room", textfmt.Whole(d.budget)))
}

// whyEnded returns the reason why a context, and the work under it, has ended.
func whyEnded(ctx context.Context) string {
	switch why := context.Cause(ctx); {
	case why == nil:
		return "something could not be run"
	case errors.Is(why, context.Canceled):
		return "it was stopped"
	default:
		return why.Error()
	}
}

// run runs the stages, prints the result of each, and then the whole report.
func (o ciOptions) run(ctx context.Context, stages []stage, out, problems io.Writer) error {
	began := time.Now()
	d := deadline{began.Add(o.budget), o.budget}
	report := ci.Report{With: o.with()}
	var failed error
	for _, run := range stages {
		suite, err := run(ctx, d, problems)
		if err != nil {
			suite.Checks = append(suite.Checks, broken(suite.Name, err))
			failed = errors.Join(failed, fmt.Errorf("%s: %w", suite.Name, err))
		}
		printSuite(out, suite)
		report.Suites = append(report.Suites, suite)
	}
	report.Took = time.Since(began)
	printReport(out, report)
	failed = errors.Join(failed, o.write(report, out))
	if failed != nil { // after everything that is known has been told
		return failed
	}
	return exitFor(report.Conclusion())
}

// broken returns the check that reports a suite that could not be run.
func broken(suite string, err error) ci.Check {
	return ci.Check{Name: suite, Outcome: ci.Undecided, Summary: oneLine.Replace(err.Error())}
}

// leftOut returns a check that was not run for lack of time.
func leftOut(ctx context.Context, c ci.Check) ci.Check {
	c.Outcome, c.Summary = ci.NotRun, whyEnded(ctx)
	return c
}

// printSuite prints the result of a suite as soon as it is known.
func printSuite(out io.Writer, s ci.Suite) {
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n", s.Name, s.Counts(), seconds(s.Took()))
	if s.Note != "" {
		_, _ = fmt.Fprintf(out, "  %s\n", s.Note)
	}
}

// printReport prints every check that is not as expected, and the summary.
func printReport(out io.Writer, r ci.Report) {
	for s, c := range r.Of(ci.Contradiction, ci.Undecided) {
		_, _ = fmt.Fprintf(out, "\n%s: %s, %v\n%s", s.Name, c.Name, c.Outcome, c.Text())
	}
	for _, o := range []ci.Outcome{ci.NotRun, ci.NotApplicable} {
		for _, s := range r.Suites {
			if reasons, names := s.Skipped(o); len(names) > 0 {
				_, _ = fmt.Fprintf(out, "\n%s: %s, %v: %s\n", s.Name, textfmt.Count(len(names), "check"), o, reasons)
			}
		}
	}
	_, _ = fmt.Fprintf(out, "\nci: %v (%s, %s)\n", r.Conclusion(), textfmt.Count(r.Checks(), "check"), seconds(r.Took))
}

// with names the versions that were used.
func (o ciOptions) with() string {
	return fmt.Sprintf("lockstorm %s, budget %s, seed of the hunt %d", version(), textfmt.Whole(o.budget), o.hunt.seed)
}

// write writes the requested files and the annotations. If one fails, the others are still written.
func (o ciOptions) write(r ci.Report, out io.Writer) error {
	var failed error
	if o.junit != "" {
		failed = named("--junit", ci.SaveJUnit(o.junit, r))
	}
	if o.summary != "" {
		failed = errors.Join(failed, named("--summary", appendSummary(o.summary, r)))
	}
	if o.annotations {
		failed = errors.Join(failed, ci.AnnotateGitHub(out, r))
	}
	return failed
}

// appendSummary appends the summary to a file. All programs of a step share one file with one size
// limit.
func appendSummary(path string, r ci.Report) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	room := ci.MaxSummary
	if info, err := f.Stat(); err == nil {
		room -= int(info.Size())
	}
	_, err = io.WriteString(f, ci.GitHubSummary(r, room))
	return errors.Join(err, f.Close())
}

// named adds the name of the flag to an error.
func named(flag string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}
