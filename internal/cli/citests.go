package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// locktest is the package by which the user's tests are known.
const locktest = "github.com/lockstorm/lockstorm/locktest"

// testsOf finds the packages whose tests use locktest, and their directories.
func testsOf(ctx context.Context, patterns []string) (dirs map[string]string, err error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	const format = "{{.ImportPath}}\t{{.Dir}}\t,{{join .TestImports \",\"}},{{join .XTestImports \",\"}},"
	out, err := gotool.Output(ctx, "", append([]string{"list", "-e", "-f", format}, patterns...)...)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	dirs = map[string]string{}
	for line := range strings.Lines(string(out)) {
		p := strings.Split(line, "\t")
		if dir, no := filepath.Rel(here, p[1]); no == nil && strings.Contains(p[2], ","+locktest+",") {
			dirs[p[0]] = "./" + filepath.ToSlash(dir)
		}
	}
	if len(dirs) == 0 && err == nil {
		err = fmt.Errorf("no test in %s uses locktest", strings.Join(patterns, " "))
	}
	return dirs, err
}

// testEvent is a line of go test -json, see go doc test2json.
type testEvent struct {
	Action, Package, Test, Output string
	Key, Value                    string  // an attribute
	Elapsed                       float64 // seconds
	ImportPath, FailedBuild       string  // what build-output is about, and which of it failed the package
}

// goTest is a test that go test runs, or without a name a package.
type goTest struct {
	dir, name, output   string // without the lines of the framework
	attrs               map[string]string
	parent, failedBelow bool // it has subtests, or tests, and one of them has failed
	ended               bool
}

// title is the name of the test in the report.
func (t *goTest) title() string { return strings.TrimSpace(t.dir + " " + t.name) }

// framework matches the lines of output in which go test reports how far it is.
var framework = regexp.MustCompile(`^\s*(=== |--- (PASS|FAIL|SKIP): |# |FAIL\s)`)

// runTests runs the user's tests in a share of the time that is left.
func (r *ciRun) runTests(ctx context.Context, parts int) {
	ctx, cancel := r.share(ctx, parts)
	defer cancel()
	var order []*goTest
	find := func(path, name string) *goTest {
		dir := r.tests[path]
		if i := slices.IndexFunc(order, func(t *goTest) bool { return t.dir == dir && t.name == name }); i >= 0 {
			return order[i]
		}
		order = append(order, &goTest{dir: dir, name: name, attrs: map[string]string{}})
		return order[len(order)-1]
	}
	packages := slices.Sorted(maps.Keys(r.tests))
	for _, path := range packages {
		find(path, "")
	}
	kept, _ := filepath.Abs(filepath.Join(r.dir, "tests"))
	flags := []string{"test", "-json", "-count=1", fmt.Sprintf("-timeout=%v", r.budget+time.Minute)}
	cmd := exec.CommandContext(ctx, "go", slices.Concat(flags, packages, []string{"-locktest.dir=" + kept})...)
	from, to := io.Pipe()
	defer func() { _ = from.Close() }()
	cmd.Stdout = to
	go func() { _ = to.CloseWithError(gotool.Run(cmd)) }()
	builds := map[string]string{}
	var e testEvent
	for events := json.NewDecoder(from); events.Decode(&e) == nil; e = (testEvent{}) {
		if framework.MatchString(e.Output) {
			continue
		}
		if e.Package == "" { // build-output, build-fail
			builds[e.ImportPath] += e.Output
			continue
		}
		t, above := find(e.Package, e.Test), find(e.Package, e.Test[:max(0, strings.LastIndexByte(e.Test, '/'))])
		switch e.Action {
		case "run":
			above.parent = true
		case "output":
			t.output += e.Output
		case "attr":
			t.attrs[e.Key] = e.Value
		case "pass", "fail", "skip":
			t.ended = true
			t.output += builds[e.FailedBuild]
			r.addTest(t, e)
			above.failedBelow = above.failedBelow || e.Action == "fail"
		}
	}
	for _, t := range order {
		if !t.ended && !t.parent {
			r.add(ci.Check{Suite: "tests", Name: t.title(), Outcome: ci.NotRun, Summary: whyEnded(ctx)})
		}
	}
}

// source matches the place in a test from which output comes.
var source = regexp.MustCompile(`(?m)^\s*(\w+\.go):\d+: `)

// addTest adds the check of a test that has ended. One with subtests is a check if it fails by itself.
func (r *ciRun) addTest(t *goTest, e testEvent) {
	c := ci.Check{Suite: "tests", Name: t.title(), Summary: t.attrs["locktest.reason"], Took: time.Duration(e.Elapsed * float64(time.Second))}
	if said := t.attrs["locktest.summary"]; said != "" {
		r.report.Notes = append(r.report.Notes, c.Name+": "+said)
	}
	if alone := e.Action == "fail" && !t.failedBelow; !alone && (t.parent || t.name == "") {
		return
	}
	text := strings.TrimSpace(t.output)
	if at := source.FindStringSubmatchIndex(text); at != nil {
		c.File, text = inRepository(filepath.Join(t.dir, text[at[2]:at[3]])), text[:at[0]]+text[at[1]:]
	}
	text = strings.ReplaceAll(text, "\n        ", "\n") // the indentation of package testing
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case e.Action == "pass":
		c.Outcome, c.Summary = ci.AsExpected, t.attrs["locktest.limit"]
	case e.Action == "skip" && t.attrs["locktest.verdict"] != "undecided":
		c.Outcome, c.Summary = ci.NotApplicable, "skipped: "+first
	case t.name == "": // it does not compile, for example
		c.Outcome, c.Summary, c.Story = ci.Undecided, "could not be tested: "+first, text
		r.fail(c.Name, errors.New(c.Summary))
	default:
		c.Outcome, c.Summary, c.Story = ci.Undecided, cmp.Or(c.Summary, first), strings.TrimSpace(strings.TrimPrefix(text, c.Summary+"."))
		c.Command = fmt.Sprintf("go test -C %s -v -run %s", textfmt.Quoted(t.dir), textfmt.Quoted(gotool.Only(t.name)))
		if e.Action == "fail" {
			c.Outcome = ci.Contradiction
		}
		if run := t.attrs["locktest.run"]; run != "" { // the commands of the story are for the directory of the test
			c.Story, _, _ = strings.Cut(c.Story, "\n\nAgain:  "+t.attrs["locktest.again"])
			c.Kept, c.Command = filepath.Join(t.dir, run), c.Command+" -locktest.witness="+textfmt.Quoted(run)
		}
		if like := t.attrs["locktest.like"]; like != "" {
			c.Summary, c.Story = c.Summary+", as in storm "+like, ""
		}
	}
	r.add(c)
}
