package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

const (
	thisModule = "github.com/lockstorm/lockstorm"
	locktest   = thisModule + "/locktest"
)

// userTests are the packages of the user's module whose tests use locktest.
type userTests struct {
	packages []gotool.Package
	none     string // why there are none
}

// findTests finds the user's tests: those of --tests, or all of the module in the current
// directory. Only with --tests it is an error if there are none.
func (o *ciOptions) findTests(ctx context.Context) (found userTests, err error) {
	module, err := gotool.MainModule(ctx)
	switch {
	case ctx.Err() != nil:
		return userTests{none: "interrupted"}, nil
	case len(o.tests) > 0 && err != nil:
		return found, fmt.Errorf("--tests: %w", err)
	case errors.Is(err, exec.ErrNotFound):
		return userTests{none: "there is no go command"}, nil
	case err != nil:
		return userTests{none: err.Error()}, nil
	case len(o.tests) == 0 && module == thisModule: // its lock is the one that the other suites test
		return userTests{none: "this is Lockstorm itself"}, nil
	}
	patterns := o.tests
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if found.packages, err = gotool.TestsImporting(ctx, locktest, patterns...); err != nil {
		return found, fmt.Errorf("--tests: %w", err)
	}
	if len(found.packages) == 0 {
		found.none = "no test in " + strings.Join(patterns, " ") + " uses locktest"
		if len(o.tests) > 0 {
			return found, fmt.Errorf("--tests: %s", found.none)
		}
	}
	return found, nil
}

// tested says whose locks are tested: the user's code, and kinds of Lockstorm's own.
func (u userTests) tested(kinds []string, selected bool) string {
	var parts []string
	switch {
	case len(u.packages) > 0 && selected:
		var dirs []string
		for _, p := range u.packages {
			dirs = append(dirs, shortDir(p.Dir))
		}
		parts = append(parts, "your code (the tests in "+strings.Join(dirs, ", ")+")")
	case !selected:
		u.none = "--suites leaves out " + testsSuite
	}
	if len(kinds) > 0 {
		own := kinds[0]
		if more := len(kinds) - 1; more > 0 {
			own += " and " + textfmt.Count(more, "other kind")
		}
		parts = append(parts, "Lockstorm's own locks ("+own+")")
	}
	text := cmp.Or(strings.Join(parts, " and "), "nothing")
	if len(u.packages) == 0 || !selected {
		text += "; your code was not run: " + u.none
	}
	return text
}

// shortDir returns a directory relative to the current one.
func shortDir(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	short, err := filepath.Rel(here, dir)
	if err != nil {
		return dir
	}
	if short == "." {
		return short
	}
	return "./" + filepath.ToSlash(short)
}

// testStage returns the stage of the user's tests, or nil if there are none.
func (o *ciOptions) testStage(ctx context.Context) (stage, error) {
	var err error
	if o.user, err = o.findTests(ctx); err != nil || len(o.user.packages) == 0 {
		return nil, err
	}
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		ctx, cancel := d.early().limit(ctx)
		defer cancel()
		line := terminal.NewBar(problems, testsSuite, 0, terminal.Steps)
		defer line.Done()
		suite := ci.Suite{Name: testsSuite, Note: "go test"}
		tests, failed := gotool.RunTests(ctx, o.user.packages, o.budget+time.Minute, func(name string) { line.Call("%s", name) })
		var summaries []string
		for _, t := range tests {
			if t.Name == "" { // it does not compile, for example
				text, _ := t.Lines()
				what := shortDir(t.Package.Dir)
				if t.BuildFailed {
					what += " does not build"
				}
				failed = errors.Join(failed, fmt.Errorf("%s: %s", what, text))
				continue
			}
			if tried := t.Attrs[summaryAttr]; tried != "" {
				summaries = append(summaries, fmt.Sprintf("%s %s: %s", shortDir(t.Package.Dir), t.Name, tried))
			}
			if t.OnlyAttrs {
				continue
			}
			check, err := o.checkTest(ctx, t)
			failed = errors.Join(failed, err)
			suite.Checks = append(suite.Checks, check)
		}
		suite.Note = strings.Join(append([]string{suite.Note + limitsNote(suite)}, summaries...), "\n  ")
		if len(tests) == 0 {
			suite.Checks = append(suite.Checks, leftOut(ctx, ci.Check{Name: "go test"}))
		}
		return suite, failed
	}, nil
}

// The attributes of locktest's tests.
const (
	summaryAttr   = "locktest.summary"   // what was tried of a lock, and what was not
	undecidedAttr = "locktest.undecided" // why a storm could not be decided
)

// checkTest returns the check of a test, and keeps the run that locktest stored.
func (o *ciOptions) checkTest(ctx context.Context, t gotool.Test) (ci.Check, error) {
	dir := shortDir(t.Package.Dir)
	check := ci.Check{Name: dir + " " + t.Name, Took: t.Took, Command: testCommand(dir, t.Name)}
	text, source := t.Lines()
	if source != "" {
		file, _, _ := strings.Cut(source, ":")
		check.File = filepath.ToSlash(filepath.Join(dir, file))
	}
	first, rest, _ := strings.Cut(text, "\n")
	switch {
	case t.Result == gotool.Passed:
		return ci.Check{Name: check.Name, Outcome: ci.AsExpected, Took: t.Took, Summary: strings.Join(limitLine.FindAllString(text, -1), "; ")}, nil
	case t.Result == gotool.Unfinished:
		return leftOut(ctx, check), nil
	case t.Result == gotool.Skipped && t.Attrs[undecidedAttr] != "":
		check.Outcome, check.Summary = ci.Undecided, t.Attrs[undecidedAttr]
		return check, nil
	case t.Result == gotool.Skipped:
		check.Outcome, check.Summary, check.Command = ci.NotApplicable, cmp.Or("skipped: "+first, "skipped"), ""
		return check, nil
	}
	check.Outcome, check.Summary, check.Story = ci.Contradiction, cmp.Or(strings.TrimSuffix(first, "."), "failed"), strings.TrimSpace(rest)
	return o.keepTest(check, text, t)
}

// Lines that locktest prints about limits and stored runs.
var (
	storedLine = regexp.MustCompile(`(?m)^Stored: (.+?), with story and plan in `)
	limitLine  = regexp.MustCompile(`(?m)\blimit: .+ was violated in .+$`)
	likeLine   = regexp.MustCompile(`(?m)^As in storm (.+?); stored in (.+)$`)
)

// limitsNote counts the checks that passed although they showed a violation that no promise covers.
func limitsNote(s ci.Suite) string {
	n := 0
	for _, c := range s.Checks {
		if c.Outcome == ci.AsExpected && c.Summary != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d as expected with limits, which the JUnit file and the summary name", n)
}

// keepTest copies the run that a failed test stored, and shortens the story to
// what is not said elsewhere. The commands are about the copy: in CI it is all that remains.
func (o *ciOptions) keepTest(check ci.Check, text string, t gotool.Test) (ci.Check, error) {
	var from string
	dir := shortDir(t.Package.Dir)
	if found := storedLine.FindStringSubmatch(text); found != nil {
		from = found[1]
		check.Story, _, _ = strings.Cut(check.Story, "\nAgain: ")
		check.Story = strings.TrimRight(check.Story, "\n")
	} else if found := likeLine.FindStringSubmatch(text); found != nil {
		from = found[2]
		check.Story, check.Like = "", dir+" "+path.Join(path.Dir(t.Name), found[1])
	} else {
		return check, nil
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(t.Package.Dir, from)
	}
	if _, err := results.Load(from); err != nil {
		return check, err
	}
	to, err := o.copyRun(t, from)
	if err != nil {
		return check, err
	}
	check.Command, check.Page = witnessCommand(t, to), textfmt.Command("report", to)
	check.Files = []string{to}
	return check, nil
}

// copyRun copies the run that a test stored, and returns where to.
func (o *ciOptions) copyRun(t gotool.Test, from string) (to string, err error) {
	name := shortDir(t.Package.Dir) + "-" + filepath.Base(filepath.Dir(from)) + "-" + filepath.Base(from)
	to = filepath.Join(o.out, testsSuite, strings.Trim(unsafeName.ReplaceAllString(name, "-"), "-."))
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return "", err
	}
	return to, o.moveFailure(t, from, to)
}

// What the file about a failure says of other places than its own.
var (
	againPart = regexp.MustCompile(`(?m)^To run it again, in the directory of the test:\n\n\t.*\n`)
	wholePart = regexp.MustCompile(`(?m)^(The run of the whole plan is stored in \.\./)(.+)\.$`)
)

// moveFailure makes the file about a failure right where the run was copied to. It copies the run that
// the file refers to as well.
func (o *ciOptions) moveFailure(t gotool.Test, from, to string) error {
	path := filepath.Join(to, external.FailureFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // the user's module has another version of locktest
		return nil
	}
	if err != nil {
		return err
	}
	again := fmt.Sprintf("To run it again, in a checkout with this directory as %s:\n\n\t%s\n", filepath.ToSlash(to), witnessCommand(t, to))
	text = againPart.ReplaceAllLiteral(text, []byte(again))
	if whole := wholePart.FindSubmatch(text); whole != nil {
		moved, err := o.copyRun(t, filepath.Join(filepath.Dir(from), string(whole[2])))
		if err != nil {
			return err
		}
		text = wholePart.ReplaceAll(text, []byte("${1}"+filepath.Base(moved)+"."))
	}
	return files.WriteWhole(path, text)
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// testCommand returns the command that runs a test.
func testCommand(dir, name string) string {
	return "go test " + textfmt.Quoted(dir) + " -run " + textfmt.Quoted(gotool.Only(name))
}

// witnessCommand returns the command that repeats a run of a test that is stored in a directory.
func witnessCommand(t gotool.Test, run string) string {
	if abs, err := filepath.Abs(run); err == nil && !filepath.IsAbs(run) {
		if rel, err := filepath.Rel(t.Package.Dir, abs); err == nil {
			run = rel // -locktest.witness is relative to the directory of the test
		}
	}
	return fmt.Sprintf("go test -C %s -v -run %s -locktest.witness=%s",
		textfmt.Quoted(shortDir(t.Package.Dir)), textfmt.Quoted(gotool.Only(t.Name)), textfmt.Quoted(filepath.ToSlash(run)))
}

// addKind records that a kind of Lockstorm's own locks is tested.
func (o *ciOptions) addKind(kind string) {
	if !slices.Contains(o.kinds, kind) {
		o.kinds = append(o.kinds, kind)
	}
}
