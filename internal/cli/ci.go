package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/show/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/spf13/cobra"
)

// allSuites are the suites but for the programs, which their flag chooses.
var allSuites = []string{"cases", "tests", "debate", "explore", "hunt"}

func newCI(line commandLine) *cobra.Command {
	r := ciRun{line: line, began: time.Now()}
	cmd := &cobra.Command{
		Use:   "ci [PACKAGE|ROW|FILE]...",
		Short: "Run your locktest tests, programs, saved cases and scenarios within a time budget",
		Long: `Run checks within one time budget. Write a JUnit file, a Markdown summary and, on
GitHub, annotations. Each failed check comes with the command that repeats it.

  cases    each saved case (a FILE, or those in testdata/cases) shows the verdict that it states
  tests    the Go tests that use package locktest: of each PACKAGE, or of the whole module
  program  "lockstorm test" of each --program
  debate   each ROW of the debate and each scenario FILE shows the verdicts that it expects
  explore  every run of their smallest worlds does, within "lockstorm explore --quick"
  hunt     "lockstorm hunt" finds no defect of Redlock in the time that is left

Without arguments cases and tests are run. Only tests and programs run your code, and share
the time equally; all others run Lockstorm's locks. Checks skipped for lack of time, or by
Ctrl-C, are listed as not run. They do not count as passed, and to check nothing is an
error.`,
		Example: `  lockstorm ci
  lockstorm ci ./locks --junit junit.xml
  lockstorm ci --program '--nodes 5 -- python3 client.py' --budget 20m
  lockstorm ci deploy/lock.yaml crash-restart --runs 50
  lockstorm ci --suite cases,tests,debate,explore,hunt --budget 20m --seed $BUILD_NUMBER`,
	}
	f := cmd.Flags()
	f.DurationVar(&r.budget, "budget", 5*time.Minute, "time limit of the whole command")
	f.StringSliceVar(&r.suites, "suite", nil, "suites to run, of "+strings.Join(allSuites, ", ")+", beside those of the arguments (default cases,tests)")
	f.StringArrayVar(&r.programs, "program", nil, `program that locks, behind flags of "lockstorm test"; can be repeated`)
	f.IntVar(&r.runs, "runs", 100, "number of runs of each row and scenario")
	f.Uint64Var(&r.seed, "seed", 1, "seed of the hunt")
	f.StringVar(&r.dir, "out", "counterexamples", "directory for the failed runs of tests and programs, and the finds of the hunt")
	f.StringVar(&r.junit, "junit", "", "file for a JUnit XML report")
	f.StringVar(&r.summary, "summary", os.Getenv("GITHUB_STEP_SUMMARY"), "file to which a Markdown summary is appended")
	f.Lookup("budget").DefValue, f.Lookup("summary").DefValue = textfmt.Whole(r.budget), "$GITHUB_STEP_SUMMARY"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.out = cmd.OutOrStdout()
		if err := cmp.Or(allKnown("suite", r.suites, allSuites), writableDir("--out", r.dir), writableFile("--junit", r.junit), writableFile("--summary", r.summary)); err != nil {
			return err
		}
		if err := r.plan(cmd.Context(), args); err != nil {
			return err
		}
		return r.run(cmd.Context())
	}
	return cmd
}

// run makes all checks, and prints and writes the report.
func (r *ciRun) run(ctx context.Context) error {
	r.report.With = fmt.Sprintf("lockstorm %s, budget %s, seed of the hunt %d", version(), textfmt.Whole(r.budget), r.seed)
	r.lines(ctx, "cases", "replay")
	if len(r.tests) > 0 {
		r.runTests(ctx, 1+len(r.programs))
	}
	for i, program := range r.programs {
		r.runProgram(ctx, program, i+1, len(r.programs)-i)
	}
	r.lines(ctx, "debate", "run", "--runs", fmt.Sprint(r.runs))
	r.lines(ctx, "explore", "explore", "--quick")
	r.lines(ctx, "hunt", "hunt", "--assume", promisedWord, "--seed", fmt.Sprint(r.seed), "--lock")
	if r.report.Took = time.Since(r.began); len(r.report.Checks) == 0 && ctx.Err() == nil {
		r.fail("nothing was checked", errors.New("write a test with locktest, name a scenario file, or choose other suites by --suite"))
	}
	for _, c := range r.report.Only(ci.Contradiction, ci.Undecided) {
		if c.Outcome == ci.Undecided && c.Story+c.Command == "" { // its line says all
			continue
		}
		_, _ = fmt.Fprintf(r.out, "\n%s: %s, %v\n%s", c.Suite, c.Name, c.Outcome, c.Text())
	}
	for _, note := range append(r.report.Notes, "ci: "+r.report.String()) {
		_, _ = fmt.Fprintf(r.out, "\n%s\n", note)
	}
	if r.junit != "" { // if one file cannot be written, the others are
		r.fail("--junit", ci.SaveJUnit(r.junit, r.report))
	}
	if r.summary != "" {
		r.fail("--summary", ci.AppendSummary(r.summary, r.report))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		_, _ = io.WriteString(r.out, ci.Annotations(r.report))
	}
	return cmp.Or(r.failed, exitFor(r.report.Conclusion()))
}
