package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/shlex"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/show/ci"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plan finds what each suite that is run checks.
func (r *ciRun) plan(ctx context.Context, args []string) error {
	r.in = map[string][]string{}
	for _, suite := range r.suites {
		r.in[suite] = nil
	}
	for _, arg := range args {
		suite, err := suiteOf(arg)
		if err != nil {
			return err
		}
		r.in[suite] = append(r.in[suite], arg)
	}
	if len(r.in) == 0 {
		r.in["cases"], r.in["tests"] = nil, nil
	}
	for _, program := range r.programs {
		if words, err := shlex.Split(program); err != nil || len(words) == 0 {
			return fmt.Errorf("--program %q: want a command line", program)
		}
	}
	saved, _ := filepath.Glob("testdata/cases/*" + cases.Extension)
	rows := r.in["debate"]
	if len(rows) == 0 {
		for _, t := range scenarios.Topics() {
			for _, row := range t.Rows {
				rows = append(rows, row.Name)
			}
		}
	}
	for suite, all := range map[string][]string{"cases": saved, "debate": rows, "explore": rows, "hunt": {defaultLock}, "tests": {everywhere}} {
		if named, run := r.in[suite]; run && len(named) == 0 {
			r.in[suite] = all
		}
	}
	if patterns, run := r.in["tests"]; run {
		var err error
		if r.tests, err = testsOf(ctx, patterns); err != nil && patterns[0] != everywhere {
			return err
		} else if err != nil && len(r.programs) == 0 {
			r.report.Notes = append(r.report.Notes, "None of your tests was run: "+err.Error())
		}
	}
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

// lines makes the checks of a suite in the time that is left. Each is a command line of this program,
// whose exit code is the outcome.
func (r *ciRun) lines(ctx context.Context, suite string, line ...string) {
	limited, cancel := r.share(ctx, 1)
	defer cancel()
	for _, name := range r.in[suite] {
		args := append(slices.Clone(line), name)
		c := ci.Check{Suite: suite, Name: name, Command: textfmt.Command(args...)}
		if isFile(name) {
			c.File = inRepository(name)
		}
		if limited.Err() != nil {
			c.Outcome, c.Summary = ci.NotRun, whyEnded(limited)
			r.add(c)
			continue
		}
		began, during := time.Now(), limited
		switch suite {
		case "cases", "debate":
			args = append(args, "--out", "") // they can be repeated exactly
		case "hunt": // it ends by itself, and shrinks what it has found
			during, c.Kept = ctx, filepath.Join(r.dir, "hunt")
			args = append(args, "--out", c.Kept, "--budget", time.Until(r.began.Add(r.budget)).String())
		}
		code, out, problems := r.line(during, args...)
		c.Took, c.Outcome = time.Since(began), ci.Undecided
		if c.Summary, c.Story, _ = strings.Cut(out, "\n"); suite == "explore" { // the conclusion follows a table
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
			r.fail(suite+": "+name, errors.New(problems))
		}
		r.add(c)
	}
}

// runProgram puts a program through the storms of "lockstorm test", in a share of the time that is left.
func (r *ciRun) runProgram(ctx context.Context, text string, number, parts int) {
	ctx, cancel := r.share(ctx, parts)
	defer cancel()
	words, _ := shlex.Split(text)
	end, _ := ctx.Deadline()
	flags := []string{"test", "--format", asJSON, "--out", filepath.Join(r.dir, "program", fmt.Sprint(number)), "--budget", max(time.Until(end), 1).String()}
	code, out, problems := r.line(ctx, append(flags, words...)...)
	for from := json.NewDecoder(strings.NewReader(out)); ; {
		var s external.Record
		if from.Decode(&s) != nil {
			break
		}
		if s.Storm == "" { // a run
			continue
		}
		c := stormCheck("program", text+" "+s.Storm, s)
		if c.Outcome == ci.NotRun && ctx.Err() != nil {
			c.Summary = whyEnded(ctx)
		}
		r.add(c)
	}
	if code == exitBadInput {
		r.add(ci.Check{Suite: "program", Name: text, Outcome: ci.Undecided, Summary: problems})
		r.fail("--program "+text, errors.New(problems))
	}
}
