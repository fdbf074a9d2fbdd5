package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/shlex"

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// lineCheck is a check that is a command line of this program, whose exit code is the outcome.
type lineCheck struct {
	ci.Check
	args []string
}

// plan makes the checks of the arguments and the suites, without running them.
func (r *ciRun) plan(ctx context.Context, args []string) (err error) {
	in := map[string][]string{} // the arguments of the suites that are run
	for _, suite := range r.suites {
		in[suite] = nil
	}
	for _, arg := range args {
		suite, err := suiteOf(arg)
		if err != nil {
			return err
		}
		in[suite] = append(in[suite], arg)
	}
	if len(in) == 0 {
		in["cases"], in["tests"] = nil, nil
	}
	for _, program := range r.programs {
		if words, err := shlex.Split(program); err != nil || len(words) == 0 {
			return fmt.Errorf("--program %q: want a command line", program)
		}
	}
	saved, rows := in["cases"], in["debate"]
	if len(saved) == 0 {
		saved, _ = filepath.Glob("testdata/cases/*" + cases.Extension)
	}
	if patterns, run := in["tests"]; run {
		if r.tests, err = testsOf(ctx, patterns); err != nil && len(patterns) > 0 {
			return err
		} else if err != nil {
			r.report.Notes = append(r.report.Notes, "None of your tests was run: "+err.Error())
		}
	}
	if len(rows) == 0 {
		for _, t := range scenarios.Topics() {
			for _, row := range t.Rows {
				rows = append(rows, row.Name)
			}
		}
	}
	add := func(to *[]lineCheck, suite string, names []string, line ...string) {
		if _, run := in[suite]; !run {
			return
		}
		for _, name := range names {
			c := lineCheck{ci.Check{Suite: suite, Name: name}, slices.Clone(line)}
			if suite != "hunt" {
				c.args = append(c.args, name)
			}
			if c.Command = textfmt.Command(c.args...); isFile(name) {
				c.File = inRepository(name)
			}
			*to = append(*to, c)
		}
	}
	add(&r.first, "cases", saved, "replay")
	add(&r.last, "debate", rows, "run", "--runs", fmt.Sprint(r.runs))
	add(&r.last, "explore", rows, "explore", "--quick")
	add(&r.last, "hunt", []string{"redlock"}, "hunt", "--assume", promisedWord, "--seed", fmt.Sprint(r.seed))
	return nil
}

// suiteOf returns the suite of an argument: a YAML file is a case or a scenario, a name without a dot or
// a slash is a row, and anything else a pattern of Go packages.
func suiteOf(arg string) (suite string, err error) {
	if isFile(arg) && !isCase(arg) {
		return "tests", nil
	}
	if _, no := cases.Load(arg); no == nil {
		return "cases", nil
	}
	_, err = prepare(arg, backends[0].Backend)
	return "debate", err
}

// inRepository returns a path as an annotation needs it.
func inRepository(path string) string {
	abs, err := filepath.Abs(path)
	if rel, no := filepath.Rel(os.Getenv("GITHUB_WORKSPACE"), abs); err == nil && no == nil {
		path = rel
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// runLine runs a command line of this program. It returns the exit code and what was printed.
func runLine(ctx context.Context, args ...string) (code int, out, problems string) {
	var o, p bytes.Buffer
	code = execute(ctx, args, strings.NewReader(""), &o, &p)
	return code, strings.TrimSpace(o.String()), strings.TrimPrefix(strings.TrimSpace(p.String()), "lockstorm: ")
}

// lines makes checks in the time that is left.
func (r *ciRun) lines(ctx context.Context, checks []lineCheck) {
	limited, cancel := r.share(ctx, 1)
	defer cancel()
	for _, c := range checks {
		if limited.Err() != nil {
			c.Outcome, c.Summary = ci.NotRun, whyEnded(limited)
			r.add(c.Check)
			continue
		}
		began, during := time.Now(), limited
		switch c.Suite {
		case "cases", "debate":
			c.args = append(c.args, "--out", "") // they can be repeated exactly
		case "hunt": // it ends by itself, and shrinks what it has found
			during, c.Kept = ctx, filepath.Join(r.dir, "hunt")
			c.args = append(c.args, "--out", c.Kept, "--budget", time.Until(r.began.Add(r.budget)).String())
		}
		code, out, problems := runLine(during, c.args...)
		c.Took, c.Outcome = time.Since(began), ci.Undecided
		if c.Summary, c.Story, _ = strings.Cut(out, "\n"); c.Suite == "explore" { // the conclusion follows a table
			c.Summary, c.Story = out[strings.LastIndexByte(out, '\n')+1:], out
		}
		switch {
		case code == exitContradiction:
			c.Outcome = ci.Contradiction
		case during.Err() != nil:
			c.Summary = whyEnded(during)
		case code == exitAsExpected:
			c.Outcome = ci.AsExpected
		case code == exitBadInput:
			c.Summary = problems
			r.fail(c.Suite+": "+c.Name, errors.New(problems))
		}
		r.add(c.Check)
	}
}

// runProgram puts a program through the storms of "lockstorm test", in a share of the time that is left.
func (r *ciRun) runProgram(ctx context.Context, text string, number, parts int) {
	ctx, cancel := r.share(ctx, parts)
	defer cancel()
	words, _ := shlex.Split(text)
	code, out, problems := runLine(ctx, append([]string{"test", "--format", asJSON, "--out", filepath.Join(r.dir, "program", fmt.Sprint(number))}, words...)...)
	for from := json.NewDecoder(strings.NewReader(out)); ; {
		var s stormLine
		if from.Decode(&s) != nil {
			break
		}
		if s.Storm == "" { // a run
			continue
		}
		c := ci.Check{Suite: "program", Name: text + " " + s.Storm, Summary: s.Reason, Story: s.Story, Command: s.Again, Kept: s.Dir, Took: s.Took, Outcome: ci.Outcome(s.Verdict)}
		if c.Outcome == ci.NotRun {
			c.Summary = whyEnded(ctx)
		}
		r.add(c)
	}
	if code == exitBadInput {
		r.add(ci.Check{Suite: "program", Name: text, Outcome: ci.Undecided, Summary: problems})
		r.fail("--program "+text, errors.New(problems))
	}
}
