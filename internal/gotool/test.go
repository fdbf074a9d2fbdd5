package gotool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Result is how a test ended.
type Result string

// The results. Unfinished means that the tests were stopped before.
const (
	Passed     Result = "pass"
	Failed     Result = "fail"
	Skipped    Result = "skip"
	Unfinished Result = ""
)

// Test is one test without subtests, a test with attributes or that failed outside its subtests, or,
// without a name, a package that failed outside its tests: it does not compile, for example.
type Test struct {
	Package Package
	Name    string
	Result  Result
	Output  string // without the lines of the test framework
	Attrs   map[string]string
	Took    time.Duration

	OnlyAttrs   bool // it is listed for its attributes: it has subtests, and has not failed outside them
	BuildFailed bool // the package could not be built; Output says why
}

// Only returns the pattern for -run that selects a test alone. A name such as TestA/b is that of a
// subtest.
func Only(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// RunTests runs the tests of packages once, and calls began with the name of each test. It returns
// the tests in the order in which they began, also those of packages that failed or were stopped.
// The error means that the go command could not be run.
func RunTests(ctx context.Context, packages []Package, timeout time.Duration, began func(name string)) ([]Test, error) {
	args := []string{"test", "-json", "-count=1", fmt.Sprintf("-timeout=%v", timeout)}
	for _, p := range packages {
		args = append(args, p.ImportPath)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	c := collector{packages: packages, began: began, index: map[testID]int{}, parents: map[testID]bool{}, builds: map[string]string{}}
	var problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &c, &problems
	err := Run(cmd)
	if len(c.tests) == 0 && err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("go test: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	return c.leaves(), nil
}

// testID identifies a test. A name of "" is the package itself.
type testID struct{ path, name string }

// collector reads the output of go test -json.
type collector struct {
	packages []Package
	began    func(name string)
	rest     []byte // an unfinished line

	tests   []Test
	index   map[testID]int // of tests
	parents map[testID]bool
	builds  map[string]string // the compiler's output, by what it compiled
}

// event is a line of go test -json, see go doc test2json.
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Key, Value  string  // an attribute
	Elapsed     float64 // seconds
	ImportPath  string  // what build-output is about
	FailedBuild string  // the ImportPath whose compilation failed the package
}

// Write implements [io.Writer].
func (c *collector) Write(text []byte) (int, error) {
	c.rest = append(c.rest, text...)
	for {
		line, after, whole := bytes.Cut(c.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		var e event
		if json.Unmarshal(line, &e) == nil {
			c.take(e)
		}
		c.rest = after
	}
}

func (c *collector) take(e event) {
	if e.Action == "build-output" {
		c.builds[e.ImportPath] += e.Output
		return
	}
	id := testID{e.Package, e.Test}
	if e.Package == "" { // build-fail
		return
	}
	at, known := c.index[id]
	if !known {
		at = len(c.tests)
		c.index[id] = at
		c.tests = append(c.tests, Test{Package: c.packageAt(id.path), Name: id.name})
	}
	t := &c.tests[at]
	switch e.Action {
	case "run":
		if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
			c.parents[testID{e.Package, e.Test[:i]}] = true
		}
		c.began(e.Test)
	case "output":
		if !ofFramework(e.Output) {
			t.Output += e.Output
		}
	case "attr":
		if t.Attrs == nil {
			t.Attrs = map[string]string{}
		}
		t.Attrs[e.Key] = e.Value
	case string(Passed), string(Failed), string(Skipped):
		t.Result, t.Took = Result(e.Action), time.Duration(e.Elapsed*float64(time.Second))
		if e.FailedBuild != "" {
			t.BuildFailed, t.Output = true, compilerLines(c.builds[e.FailedBuild])
		}
	}
}

// compilerLines leaves out the lines in which the go command names the package.
func compilerLines(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "# ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (c *collector) packageAt(path string) Package {
	i := slices.IndexFunc(c.packages, func(p Package) bool { return p.ImportPath == path })
	if i < 0 {
		return Package{ImportPath: path}
	}
	return c.packages[i]
}

// ofFramework reports whether a line of output only reports the progress of tests.
func ofFramework(line string) bool {
	line = strings.TrimSpace(line)
	for _, prefix := range []string{"=== ", "--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// leaves returns the tests without subtests, those with attributes, and what failed although all of its
// tests passed.
func (c *collector) leaves() (list []Test) {
	for _, t := range c.tests {
		id := testID{t.Package.ImportPath, t.Name}
		t.OnlyAttrs = c.parents[id] && (t.Result != Failed || c.failedBelow(id))
		if (t.Name != "" && !c.parents[id]) || t.Attrs != nil || t.Result == Failed && !c.failedBelow(id) {
			list = append(list, t)
		}
	}
	return list
}

// failedBelow reports whether a subtest, or a test of the package, has failed.
func (c *collector) failedBelow(of testID) bool {
	return slices.ContainsFunc(c.tests, func(t Test) bool {
		inside := t.Name != "" && of.name == "" || strings.HasPrefix(t.Name, of.name+"/")
		return t.Package.ImportPath == of.path && t.Name != of.name && inside && t.Result == Failed
	})
}

// Lines returns a test's output without the indentation of nested tests, and the source line that
// printed it first, such as "lock_test.go:31"; "" if there is none.
func (t Test) Lines() (text, source string) {
	lines := bufio.NewScanner(strings.NewReader(t.Output))
	lines.Buffer(nil, 1<<24)
	depth := strings.Count(t.Name, "/") + 1
	indent := strings.Repeat("    ", depth)
	var b strings.Builder
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), indent)
		if at, rest, ok := strings.Cut(line, ": "); ok && source == "" && isSource(strings.TrimSpace(at)) {
			source, line = strings.TrimSpace(at), rest
		}
		b.WriteString(strings.TrimPrefix(line, "    "))
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String()), source
}

// isSource reports whether a text is the name of a Go file and a line number.
func isSource(at string) bool {
	file, line, ok := strings.Cut(at, ":")
	return ok && strings.HasSuffix(file, ".go") && strings.Trim(line, "0123456789") == "" && line != ""
}
