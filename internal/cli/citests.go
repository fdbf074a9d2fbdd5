package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/show/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// locktest is the package by which the user's tests are known.
const locktest = "github.com/lockstorm/lockstorm/locktest"

const everywhere = "./..." // the pattern of the whole module

// testsOf finds the packages whose tests use locktest, and their directories.
func testsOf(ctx context.Context, patterns []string) (dirs map[string]string, err error) {
	const format = "{{.ImportPath}}\t{{.Dir}}\t,{{join .TestImports \",\"}},{{join .XTestImports \",\"}},\t{{with .Error}}{{printf \"%q\" .Err}}{{end}}" // an error may have several lines
	out, err := gotool.Output(ctx, "", append([]string{"list", "-e", "-f", format}, patterns...)...)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	dirs = map[string]string{}
	problem := ""
	for line := range strings.Lines(string(out)) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if said, quoted := strconv.Unquote(p[3]); quoted == nil {
			problem = cmp.Or(problem, strings.ReplaceAll(said, "\n\t", " "))
		}
		if dir, no := filepath.Rel(here, p[1]); no == nil && strings.Contains(p[2], ","+locktest+",") {
			if dirs[p[0]] = "."; dir != "." {
				dirs[p[0]] = "./" + filepath.ToSlash(dir)
			}
		}
	}
	if len(dirs) == 0 && err == nil {
		err = fmt.Errorf("no test in %s uses locktest", strings.Join(patterns, " "))
		if problem != "" {
			err = fmt.Errorf("%w: %s", err, problem)
		}
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
	dir, name, title, output string
	storm                    external.Record // its attribute
	parent, failedBelow      bool            // it has subtests, or tests, and one of them has failed
	ended                    bool
}

// runTests runs the user's tests in a share of the time that is left.
func (r *ciRun) runTests(ctx context.Context, parts int) {
	ctx, cancel := r.share(ctx, parts)
	defer cancel()
	tests := map[string]*goTest{}
	find := func(path, name string) *goTest {
		title := strings.TrimSpace(r.tests[path] + " " + name)
		if tests[title] == nil {
			tests[title] = &goTest{dir: r.tests[path], name: name, title: title}
		}
		return tests[title]
	}
	packages := slices.Sorted(maps.Keys(r.tests))
	for _, path := range packages {
		find(path, "") // listed, even if go test does not come so far
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
			if e.Key == "locktest" {
				_ = json.Unmarshal([]byte(e.Value), &t.storm) // written by locktest
			}
		case "pass", "fail", "skip":
			t.ended = true
			t.output += builds[e.FailedBuild]
			r.addTest(t, e)
			above.failedBelow = above.failedBelow || e.Action == "fail"
		}
	}
	for _, title := range slices.Sorted(maps.Keys(tests)) {
		if t := tests[title]; !t.ended && !t.parent {
			r.add(ci.Check{Suite: "tests", Name: t.title, Outcome: ci.NotRun, Summary: whyEnded(ctx)})
		}
	}
}

// addTest adds the check of a test that has ended. One with subtests is a check if it fails by itself.
func (r *ciRun) addTest(t *goTest, e testEvent) {
	c := stormCheck("tests", t.title, t.storm)
	c.Took = time.Duration(e.Elapsed * float64(time.Second))
	if t.storm.Summary != "" {
		r.report.Notes = append(r.report.Notes, c.Name+": "+t.storm.Summary)
	}
	if alone := e.Action == "fail" && !t.failedBelow; !alone && (t.parent || t.name == "") {
		return
	}
	if t.storm.Verdict == "" { // the user's own test
		c.Outcome = map[string]ci.Outcome{"pass": ci.AsExpected, "fail": ci.Contradiction, "skip": ci.NotApplicable}[e.Action]
		c.Story = t.output
	}
	if t.name == "" { // it does not compile, for example
		c.Outcome, c.Summary = ci.Undecided, "could not be tested"
		r.fail(c.Name, fmt.Errorf("%s:\n%s", c.Summary, t.output))
	} else if c.Outcome == ci.Contradiction || c.Outcome == ci.Undecided {
		c.Command = fmt.Sprintf("go test -C %s -v -run %s", textfmt.Quoted(t.dir), textfmt.Quoted(gotool.Only(t.name)))
	}
	if c.Kept != "" {
		c.Command, c.Kept = c.Command+" -locktest.witness="+textfmt.Quoted(c.Kept), filepath.Join(t.dir, c.Kept)
	}
	if t.storm.File != "" {
		c.File = inRepository(filepath.Join(t.dir, t.storm.File))
	}
	r.add(c)
}
