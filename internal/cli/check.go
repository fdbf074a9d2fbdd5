package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// checkOptions are the flags of check.
type checkOptions struct {
	properties []string
	json       bool
	picture    string // where pictures go: "" beside what was judged
	jepsen     jepsen.Options
	report     reportFile
}

// noPicture is the value of --picture for no pictures.
const noPicture = "none"

func newCheck() *cobra.Command {
	var o checkOptions
	var models []string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge stored histories",
		Long: `Judge stored histories. A FILE is the directory of a run, a history (history.jsonl, or
history.edn of Jepsen; plain or compressed with gzip or zstd), or - for standard input.
Verdicts of a run's directory are compared with its scenario's expectations; for a
history alone any violation exits with 1.

Histories of Jepsen are judged against models: locks as ownerless, owner-aware and
fenced mutexes, registers as linearizable registers (docs/your-history.md). --model
selects the models that the lock promises.

For each property that is violated or undecided, a picture of the operations, windows
and faults around the first violation is written as HTML: counterexample-lease.html in
a run's directory, history.jsonl.counterexample-lease.html beside a history file, and
in the current directory for standard input.

All files are judged, even if one is bad. The exit code is the first of these that
applies: 1 a contradiction or violation, 2 bad input, 3 undecided, 0.`,
		Example: `  lockstorm check runs/crash-restart-sim-1
  lockstorm check --property lease,fence history.jsonl.zst
  zcat history.jsonl.gz | lockstorm check --json -
  lockstorm check store/latest/history.edn
  lockstorm check --model ownerless,fenced store/latest/history.edn`,
		Args: takes(1, anyNumber),
	}
	cmd.Flags().StringSliceVar(&o.properties, "property", nil, "judge only these properties, by name or code: lease,V4")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line for each history, and nothing else")
	cmd.Flags().StringVar(&o.picture, "picture", "", `directory for the pictures, or "none"`)
	cmd.Flags().DurationVar(&o.jepsen.Limit, "limit", time.Minute, "for a history of Jepsen: time limit of the search; then the verdict is unknown")
	cmd.Flags().StringVar(&o.jepsen.Initial, "initial", "", "for a history of Jepsen: initial value of the registers, as EDN (default: what an operation found before any could have written it, otherwise nil)")
	cmd.Flags().StringSliceVar(&models, "model", nil, "for a history of Jepsen: judge only these models: ownerless, owner-aware, fenced, register")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.report.check("report"); err != nil {
			return err
		}
		if o.report.path != "" && slices.Contains(args, standardInput) {
			return errors.New("--report: standard input cannot be read twice: name a file")
		}
		only, err := findProperties("property", o.properties)
		if err != nil {
			return err
		}
		if o.jepsen.Models, err = findModels(models); err != nil {
			return err
		}
		if first := slices.Index(args, standardInput); first >= 0 && slices.Contains(args[first+1:], standardInput) {
			return fmt.Errorf("%s: standard input can be read only once", standardInput)
		}
		if o.picture != "" && o.picture != noPicture {
			if err := os.MkdirAll(o.picture, 0o755); err != nil {
				return fmt.Errorf("--picture: %w", err)
			}
		}
		c := checking{options: o, only: only, stdin: cmd.InOrStdin(), out: cmd.OutOrStdout(), problems: cmd.ErrOrStderr(), used: map[string]bool{}}
		read, err := c.all(cmd.Context(), args)
		if len(read) == 0 {
			return err
		}
		return o.report.after(cmd, err, "check "+report.TitleOf(read), func(ctx context.Context, r *report.Report) error {
			return r.Find(ctx, read)
		})
	}
	return cmd
}

// findProperties finds properties by their names or codes.
func findProperties(flag string, names []string) ([]checker.Property, error) {
	var found []checker.Property
	for _, name := range names {
		i := slices.IndexFunc(checker.Properties(), func(p checker.Property) bool {
			return strings.EqualFold(name, p.Code()) || name == p.String()
		})
		if i < 0 {
			return nil, fmt.Errorf("--%s: unknown property %q: want %s", flag, name, summary.Codes())
		}
		found = append(found, checker.Properties()[i])
	}
	return found, nil
}

// checking is one call of check.
type checking struct {
	options  checkOptions
	only     []checker.Property // empty: all
	stdin    io.Reader
	out      io.Writer
	problems io.Writer
	used     map[string]bool // the files of pictures, where those of all inputs go into one directory
}

// severity lists the exit codes by precedence. Bad input does not hide a violation in another input.
var severity = []int{exitContradiction, exitBadInput, exitUndecided, exitAsExpected}

// all judges all inputs until it is stopped, and returns those that were judged to the end.
func (c checking) all(ctx context.Context, names []string) (read []string, err error) {
	worst := exitAsExpected
	for i, name := range names {
		code := c.one(ctx, name, len(names) > 1, i > 0)
		if code != exitBadInput && ctx.Err() == nil { // to judge it again for a page takes as long
			read = append(read, name)
		}
		if slices.Index(severity, code) < slices.Index(severity, worst) {
			worst = code
		}
	}
	if worst == exitAsExpected {
		return read, nil
	}
	return read, verdictError(worst)
}

// one judges one input, prints the findings and returns the exit code.
func (c checking) one(ctx context.Context, name string, titled, later bool) int {
	var j verdicted
	err := ctx.Err()
	if err == nil {
		j, err = c.judge(ctx, name)
	}
	if err == nil {
		if !c.options.json {
			terminal.Fit(c.out)
		}
		if titled && !c.options.json {
			c.title(name, later)
		}
		err = c.print(j)
	}
	switch {
	case err == nil:
		return j.code()
	case ctx.Err() != nil: // before there was anything to be told
		complain(c.problems, fmt.Errorf("%s: interrupted", name))
		return exitUndecided
	}
	complain(c.problems, err)
	return exitBadInput
}

// title prints the name of the input.
func (c checking) title(name string, later bool) {
	gap := ""
	if later {
		gap = "\n"
	}
	_, _ = fmt.Fprintf(c.out, "%s==> %s <==\n", gap, name)
}

// verdicted is the result for one input of any kind.
type verdicted interface {
	code() int          // the exit code
	tell(out io.Writer) // in words
	line() any          // as JSON
}

// judged is the result for a history of Lockstorm.
type judged struct {
	name     string
	header   history.Header
	bare     bool // it is no run's directory
	result   runner.Result
	tally    runner.Tally
	promised *runner.Judged // what the test of a lock stored with the run, or nil
	differs  []string       // the verdicts that were stored with the run, where they were others
	drawn    []results.Drawn
}

// judge judges an input of any kind.
func (c checking) judge(ctx context.Context, name string) (verdicted, error) {
	in, err := findInput(ctx, name, c.stdin)
	if err != nil {
		return nil, err
	}
	if c.options.picture != noPicture {
		in.keep()
		defer func() { _ = in.spooled.Close() }()
	}
	stored, err := in.read(ctx, c.problems)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = stored.Close() }()
	text := bufio.NewReader(stored)
	var f verdicted
	if begin, _ := text.Peek(512); jepsen.Looks(begin) {
		f, err = c.judgeJepsen(ctx, in, text)
	} else {
		f, err = c.judgeOurs(ctx, in, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// judgeOurs judges a history of Lockstorm.
func (c checking) judgeOurs(ctx context.Context, in input, text io.Reader) (verdicted, error) {
	if len(c.options.jepsen.Models) > 0 {
		return nil, errors.New("--model applies to histories of Jepsen; this is one of Lockstorm")
	}
	header, report, err := results.Judge(text, c.only...)
	stopped := ctx.Err() != nil
	if err != nil && !(stopped && header.Version != 0) {
		return nil, err
	}
	s := in.run.Scenario.Scenario
	if s.Name == "" {
		s = scenarios.Scenario{Name: cmp.Or(textfmt.Name(header.Scenario), in.title())}
	}
	s.Expect = c.expected(s.Expect)
	r := runner.Result{Scenario: s, Plan: s.Plan, Backend: header.Backend, Seed: header.Seed, Report: report, SchedulingLag: in.run.Slip, Interrupted: in.run.Cut || stopped}
	j := judged{name: in.name, header: header, bare: in.run.Version == 0, result: r, tally: runner.NewTally(s), promised: in.run.Judged}
	j.tally.Add(r)
	if stopped {
		return j, nil // what is drawn goes on behind the violation
	}
	j.differs = differing(in.run.Verdicts, report.Verdicts())
	j.drawn = c.draw(in, report)
	return j, nil
}

// draw draws the pictures of the report. A failure changes no verdict.
func (c checking) draw(in input, report checker.Report) []results.Drawn {
	if c.options.picture == noPicture {
		return nil
	}
	bar := terminal.NewBar(c.problems, "drawing "+in.title(), 0, terminal.Steps)
	defer bar.Done()
	drawn, err := results.Draw(report, in.again, func(name string) string { return c.free(in.picture(c.options.picture, name)) })
	if err != nil {
		complain(c.problems, fmt.Errorf("no picture: %w", err))
	}
	return drawn
}

// expected returns the expected verdicts of the selected properties.
func (c checking) expected(all scenarios.Expectations) scenarios.Expectations {
	if len(c.only) == 0 {
		return all
	}
	asked := maps.Clone(all)
	maps.DeleteFunc(asked, func(p checker.Property, _ checker.Verdict) bool { return !slices.Contains(c.only, p) })
	return asked
}

func (c checking) print(f verdicted) error {
	if c.options.json {
		return json.NewEncoder(c.out).Encode(f.line())
	}
	f.tell(c.out)
	return nil
}

func (j judged) tell(out io.Writer) {
	printJudged(out, j.tally, j.standing)
	if len(j.differs) > 0 {
		_, _ = fmt.Fprintf(out, "\nThe stored verdicts differ: %v\n", j.differs)
	}
	if j.bare {
		printPlaces(out, j.result.Report)
	}
	printDrawn(out, j.drawn)
}

// standing says whether a violation is a limit of the lock or a defect: of a lock that was tested, as the
// test said; "" if it did not see the violation.
func (j judged) standing(r runner.Result, p checker.Property) string {
	if j.promised == nil {
		return promises.Standing(r.Executed(), p)
	}
	if slices.Contains(j.promised.Failed, p) {
		return promises.Defect
	}
	if i := slices.IndexFunc(j.promised.Limits, func(l runner.Limit) bool { return l.Property == p }); i >= 0 {
		return promises.Limit(j.promised.Limits[i].Why)
	}
	return ""
}

// printPlaces prints the line numbers of the violations in the history.
func printPlaces(out io.Writer, r checker.Report) {
	gap := "\n"
	for _, f := range r.Findings {
		if f.Verdict != checker.Violated || f.Where == nil {
			continue
		}
		_, _ = fmt.Fprintf(out, "%sin the history: %s from \"t\":%d to \"t\":%d\n", gap, f.Property.Code(), f.Where.From, f.Where.To)
		gap = ""
	}
}

// free returns the path, with a number appended if another input's picture has this path.
func (c checking) free(path string) string {
	if c.options.picture == "" {
		return path
	}
	free := path
	for n := 2; c.used[free]; n++ {
		free = fmt.Sprintf("%s.%d.html", strings.TrimSuffix(path, ".html"), n)
	}
	c.used[free] = true
	return free
}

func (j judged) code() int {
	switch {
	case len(j.differs) > 0 || j.tally.Conclusion() == runner.Contradiction:
		return exitContradiction
	case j.tally.Conclusion() == runner.AsExpected:
		return exitAsExpected
	}
	return exitUndecided
}

// checkedLine is what --json prints of a history.
type checkedLine struct {
	Name string `json:"name"`
	jsonLine
	Findings []checker.Finding `json:"findings"`
	Differs  []string          `json:"differs,omitempty"` // from what was stored with the run
	Pictures []results.Drawn   `json:"pictures,omitempty"`
}

func (j judged) line() any {
	l := line(stored{Result: j.result})
	l.Scenario = j.header.Scenario // and not what stands in for it in words
	return checkedLine{Name: j.name, jsonLine: l, Findings: j.result.Report.Findings, Differs: j.differs, Pictures: j.drawn}
}

// differing names the properties whose stored verdict is not the new one.
func differing(stored, now checker.Verdicts) []string {
	var list []string
	for _, p := range checker.Properties() {
		was, ok := stored[p]
		if is, judged := now[p]; ok && judged && was != is {
			list = append(list, fmt.Sprintf("%s was %s", p, was))
		}
	}
	return list
}
