package cli

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

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// ciOptions are the flags of ci.
type ciOptions struct {
	budget      time.Duration
	suites      []string
	tests       []string
	cases       []string
	rows        []string
	runs        int
	backend     runner.Backend
	world       []string // the flags that chose the backend
	hunt        huntOptions
	out         string
	junit       string
	summary     string
	annotations bool

	user  userTests // of the user's module
	kinds []string  // Lockstorm's own locks that are tested
}

// The suites of ci in the order in which they run. The user's own tests come first, then the suites
// whose failures are the clearest. The hunt gets the remaining time.
const (
	testsSuite   = "tests"
	casesSuite   = "cases"
	debateSuite  = "debate"
	exploreSuite = "explore"
	huntSuite    = "hunt"
)

var allSuites = []string{testsSuite, casesSuite, debateSuite, exploreSuite, huntSuite}

// usualSuites are the default: what is the user's own. The others try Lockstorm's locks.
var usualSuites = []string{testsSuite, casesSuite}

// ciFlags are the flags that belong to some suites. By default a flag runs the first of them.
var ciFlags = []struct {
	name   string
	suites []string
}{
	{"tests", []string{testsSuite}},
	{"cases", []string{casesSuite}},
	{"rows", []string{debateSuite, exploreSuite}},
	{"runs", []string{debateSuite}},
	{"backend", []string{debateSuite}},
	{"clients", []string{debateSuite}},
	{"lock", []string{huntSuite}}, // not seed, which a script may pass always
	{"assume", []string{huntSuite}},
	{"hunt-runs", []string{huntSuite}},
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
		Short: "Run your locktest tests, saved cases and scenarios within a time budget, for CI",
		Long: `Run the tests of your own lock and your saved cases within one time budget, and write a
JUnit file, a Markdown summary and annotations for GitHub. Each failed check comes with
the command that repeats it; a storm of locktest that fails like an earlier one has a line
that names that one. Cases, histories and pictures of failures are stored in --out, which
is created only if needed.

Your scenario files are run if --rows names them. The other suites try Lockstorm's own
locks: the debate, its explorations and a hunt. They are run if --suites names them, or if
one of their flags is given, after the tests and the cases.

The tests are those of the packages of the current module that use package locktest, or
of --tests. Only they run your code: all others run Lockstorm's own locks.
The first line of the output says what is tested.

Each case in --cases must show the verdict that it states. Each row of the debate, or
of --rows (which may include scenario files), must show the verdicts that it expects.
Every run of their smallest worlds is made within the bounds of "explore --quick".
The hunt uses the remaining time to search for broken promises of the lock, and some
seconds more to shrink what it finds. --assume works as in "lockstorm hunt". --seed
changes the hunt; cases and debate are the same each time.

Checks skipped for lack of time are listed as not run. They do not count as passed.
Ctrl-C ends the command early; the files are still written, and list what was not run.

Exit codes: 0 as expected; 1 a case or row contradicts its expectation, or the hunt
found something; 2 bad usage or input, or something could not be run, or nothing was
checked; 3 undecided: something was left open, or time ran out.`,
		Example: `  lockstorm ci
  lockstorm ci --suites tests --tests ./locks --junit junit.xml
  lockstorm ci --rows deploy/lock.yaml,crash-restart --runs 50
  lockstorm ci --suites tests,cases,debate,explore,hunt --budget 20m --seed $BUILD_NUMBER
  lockstorm ci --suites hunt --lock single-node --hunt-runs 20000`,
		Args: takes(0, 0),
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
		stages, err := o.stages(cmd.Context())
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), stages, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// flags declares the flags.
func (o *ciOptions) flags(cmd *cobra.Command) *backendChoice {
	o.hunt = huntOptions{faults: string(nemesis.AllKinds), most: usualMost}
	f := cmd.Flags()
	f.DurationVar(&o.budget, "budget", 5*time.Minute, "time limit of the whole command")
	f.Lookup("budget").DefValue = textfmt.Whole(o.budget)
	f.StringSliceVar(&o.suites, "suites", nil, "the suites to run, of "+strings.Join(allSuites, ", ")+" (default "+strings.Join(usualSuites, ",")+", and those one of whose flags is given)")
	f.StringSliceVar(&o.tests, "tests", nil, "packages with tests that use locktest (default: all in the current module)")
	f.StringSliceVar(&o.cases, "cases", nil, "case files, and directories of them (default "+usualCases+", if it exists)")
	f.StringSliceVar(&o.rows, "rows", nil, "rows and series of the debate, and scenario files (default of the suite: the whole debate)")
	f.IntVar(&o.runs, "runs", 0, "runs of each row (default 100 in virtual time, otherwise 3)")
	f.StringVar(&o.hunt.lock, "lock", defaultLock, `kind of lock to hunt ("lockstorm list" names all)`)
	f.StringVar(&o.hunt.assumed, "assume", promisedWord, `assumptions of the hunt: a file, "`+promisedWord+`" for those under which the lock makes promises, or "" for none`)
	f.Uint64Var(&o.hunt.seed, "seed", 1, "seed of the hunt; has no effect on other suites")
	f.IntVar(&o.hunt.runs, "hunt-runs", 0, "largest number of runs of the hunt (default: as many as fit into the budget)")
	f.StringVar(&o.out, "out", "counterexamples", "directory for cases, histories and pictures of failures")
	f.StringVar(&o.junit, "junit", "", "file for a JUnit XML report")
	f.StringVar(&o.summary, "summary", "", "file to which a Markdown summary is appended (default $"+gitHubSummary+")")
	f.BoolVar(&o.annotations, "annotations", false, "print GitHub annotations (default: if $"+onGitHub+" is true)")
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
		return errors.New("--cases: want at least one file or directory")
	case given("rows") && len(o.rows) == 0:
		return errors.New("--rows: want at least one row")
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
	return errors.Join(writableDir("--out", o.out), writableFile("--junit", o.junit), appendableFile("--summary", o.summary))
}

// settleSuites checks the selected suites, and that no flag belongs to another one.
func (o *ciOptions) settleSuites(given func(flag string) bool) error {
	if !given("suites") {
		o.suites = suitesOf(given)
	}
	if len(o.suites) == 0 {
		return fmt.Errorf("--suites: want at least one of %s", strings.Join(allSuites, ", "))
	}
	if err := allKnown("suite", o.suites, allSuites); err != nil {
		return fmt.Errorf("--suites: %w", err)
	}
	for _, f := range ciFlags {
		if given(f.name) && !slices.ContainsFunc(f.suites, func(s string) bool { return slices.Contains(o.suites, s) }) {
			suites := "the suite " + f.suites[0]
			if len(f.suites) > 1 {
				suites = "the suites " + textfmt.List(f.suites)
			}
			return fmt.Errorf("--%s applies to %s, which --suites leaves out", f.name, suites)
		}
	}
	return nil
}

// suitesOf returns the usual suites, and those that given flags run.
func suitesOf(given func(flag string) bool) []string {
	chosen := slices.Clone(usualSuites)
	for _, f := range ciFlags {
		if given(f.name) {
			chosen = append(chosen, f.suites[0])
		}
	}
	return slices.DeleteFunc(slices.Clone(allSuites), func(s string) bool { return !slices.Contains(chosen, s) })
}

// stage is one suite of ci, ready to run: its input has been checked. It returns the results so far
// even if something could not be run.
type stage func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error)

// stages makes the selected stages.
func (o *ciOptions) stages(ctx context.Context) ([]stage, error) {
	var all []stage
	for _, s := range []struct {
		name string
		make func() (stage, error)
	}{{testsSuite, func() (stage, error) { return o.testStage(ctx) }}, {casesSuite, o.caseStage}, {debateSuite, o.rowStage}, {exploreSuite, o.exploreStage}, {huntSuite, o.huntStage}} {
		if !slices.Contains(o.suites, s.name) {
			continue
		}
		one, err := s.make()
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// deadline returns the end of the budget.
type deadline struct {
	at     time.Time
	budget time.Duration
	orElse string // what else gives the debate and the suites behind it more time, as in " or lower --runs"
}

// early returns the deadline of a suite before the debate, whose runs have not used up the budget then.
func (d deadline) early() deadline { return deadline{at: d.at, budget: d.budget} }

// limit returns a context that ends with ctx or when the budget is spent.
func (d deadline) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, d.at, fmt.Errorf("the budget of %s is used up: raise --budget%s", textfmt.Whole(d.budget), d.orElse))
}

// whyEnded returns the reason why a context, and the work under it, has ended.
func whyEnded(ctx context.Context) string {
	switch why := context.Cause(ctx); {
	case why == nil:
		return "something could not be run"
	case errors.Is(why, context.Canceled):
		return "interrupted"
	default:
		return why.Error()
	}
}

// run runs the stages, prints the result of each, and then the whole report.
func (o ciOptions) run(ctx context.Context, stages []stage, out, problems io.Writer) error {
	began := time.Now()
	d := deadline{at: began.Add(o.budget), budget: o.budget}
	if slices.Contains(o.suites, debateSuite) { // no other suite has a number of runs
		d.orElse = " or lower --runs"
	}
	report := ci.Report{Tested: o.user.tested(o.kinds, slices.Contains(o.suites, testsSuite)), With: o.with()}
	_, _ = fmt.Fprintf(out, "tested: %s\n\n", report.Tested)
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
	if report.Checks() == 0 && ctx.Err() == nil {
		failed = errors.Join(failed, errors.New("nothing was checked: write a test with locktest, name scenario files by --rows, or choose other suites by --suites"))
	}
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
		if c.Like == "" {
			_, _ = fmt.Fprintln(out)
		}
		_, _ = fmt.Fprintf(out, "%s: %s, %v\n%s", s.Name, c.Name, c.Outcome, c.Text())
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
