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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/jepsen"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/excerpt"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// checkOptions are the flags of check.
type checkOptions struct {
	format  string
	picture string // directory for pictures; "": none are made
	jepsen  jepsen.Options
	report  reportFile
}

func newCheck() *cobra.Command {
	var o checkOptions
	var models, properties []string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge stored histories",
		Long: `Judge stored histories. A FILE is the directory of a run, a history (history.jsonl, or
history.edn of Jepsen; plain or compressed with gzip or zstd), or - for standard input.
Verdicts of a run's directory are compared with its scenario's expectations; for a
history alone any violation exits with 1.

Histories of Jepsen are judged if they are of a lock, as an ownerless, an owner-aware and
a fenced mutex (docs/your-history.md). --model selects what the lock promises: these, a
reentrant mutex, or a semaphore with N permits.

--picture writes porcupine's visualisation of the operations around a violation of V1 to
V4, or of a model, as an HTML page: FILE.PROPERTY.html.

All files are judged, even if one is bad. Of their exit codes 1 wins over 2, 2 over 3, and 3
over 0.`,
		Example: `  lockstorm check runs/crash-restart-sim-1
  lockstorm check --property lease,fence history.jsonl.zst
  zcat history.jsonl.gz | lockstorm check --format json -
  lockstorm check --model ownerless,fenced store/latest/history.edn`,
		Args: takes(1, anyNumber),
	}
	cmd.Flags().StringSliceVar(&properties, "property", nil, "judge only these properties, by name or code: lease,V4")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, ": an object a line for each history")
	cmd.Flags().StringVar(&o.picture, "picture", "", "directory for pictures of violations")
	cmd.Flags().DurationVar(&o.jepsen.Budget, "budget", time.Minute, "for a history of Jepsen: time limit of the search; then the verdict is unknown")
	cmd.Flags().StringSliceVar(&models, "model", nil, "for a history of Jepsen: judge only these models: ownerless, owner-aware, fenced, reentrant, semaphore=N")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c := checking{checkOptions: o, stdin: cmd.InOrStdin(), out: cmd.OutOrStdout(), problems: cmd.ErrOrStderr()}
		err := o.report.check("report")
		if err == nil {
			c.only, err = findProperties("property", properties)
		}
		if err == nil {
			c.jepsen.Models, err = findModels(models)
		}
		if err == nil {
			err = readOnce(o, args)
		}
		if err == nil && o.picture != "" {
			if err = os.MkdirAll(o.picture, 0o755); err != nil {
				err = fmt.Errorf("--picture: %w", err)
			}
		}
		if err != nil {
			return err
		}
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

// readOnce returns an error if standard input would have to be read twice.
func readOnce(o checkOptions, args []string) error {
	switch first := slices.Index(args, standardInput); {
	case first < 0:
		return nil
	case o.report.path != "":
		return errors.New("--report: standard input cannot be read twice: name a file")
	case o.picture != "":
		return errors.New("--picture: standard input cannot be read twice: name a file")
	case slices.Contains(args[first+1:], standardInput):
		return fmt.Errorf("%s: standard input can be read only once", standardInput)
	}
	return nil
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

// findModels finds models of Jepsen's histories by their names.
func findModels(names []string) (models []jepsen.Model, err error) {
	for _, name := range names {
		m, err := jepsen.FindModel(name)
		if err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
		models = append(models, m)
	}
	return models, nil
}

// checking is one call of check.
type checking struct {
	checkOptions
	only     []checker.Property // empty: all
	stdin    io.Reader
	out      io.Writer
	problems io.Writer
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
	if err == nil && c.format == asJSON {
		err = json.NewEncoder(c.out).Encode(j.line())
	} else if err == nil {
		terminal.Fit(c.out)
		if titled {
			c.title(name, later)
		}
		j.tell(c.out)
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
	pictures []pictureFile
}

// pictureFile is a picture of a violation of a property or a model.
type pictureFile struct {
	Of   string `json:"of"`
	Path string `json:"path"`
}

// judge judges an input of any kind.
func (c checking) judge(ctx context.Context, name string) (verdicted, error) {
	in, err := findInput(ctx, name, c.stdin)
	if err != nil {
		return nil, err
	}
	if in.once && c.picture != "" {
		return nil, fmt.Errorf("--picture: %s cannot be read twice: name a file", name)
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
	if len(c.jepsen.Models) > 0 {
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
	r := runner.Result{Scenario: s, Plan: s.World().Plan, Backend: header.Backend, Seed: header.Seed, Report: report, SchedulingLag: in.run.Slip, Interrupted: in.run.Cut || stopped}
	j := judged{name: in.name, header: header, bare: in.run.Version == 0, result: r, tally: runner.NewTally(s), promised: in.run.Judged}
	j.tally.Add(r)
	if stopped {
		return j, nil
	}
	j.differs = differing(in.run.Verdicts, report.Verdicts())
	for _, p := range excerpt.Properties {
		if c.picture != "" && report.Finding(p).Verdict == checker.Violated {
			j.pictures = append(j.pictures, c.draw(in, p.String(), func() (excerpt.Excerpt, error) {
				from, err := in.read(ctx, io.Discard)
				if err != nil {
					return excerpt.Excerpt{}, err
				}
				defer func() { _ = from.Close() }()
				return excerpt.Of(report, p, from)
			})...)
		}
	}
	return j, nil
}

// draw writes a picture and returns its place. A failure changes no verdict.
func (c checking) draw(in input, of string, operations func() (excerpt.Excerpt, error)) []pictureFile {
	path := filepath.Join(c.picture, strings.NewReplacer("/", "-", "\\", "-", ":", "-", " ", "-").Replace(strings.Trim(in.name, "./\\")+"."+of)+".html")
	x, err := operations()
	if err == nil {
		err = x.Write(path)
	}
	if err != nil {
		complain(c.problems, fmt.Errorf("no picture: %w", err))
		return nil
	}
	return []pictureFile{{of, path}}
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

func (j judged) tell(out io.Writer) {
	printJudged(out, j.tally, j.standing)
	if len(j.differs) > 0 {
		_, _ = fmt.Fprintf(out, "\nThe stored verdicts differ: %v\n", j.differs)
	}
	if j.bare {
		printPlaces(out, j.result.Report)
	}
	printDrawn(out, j.pictures)
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

// printDrawn prints the paths of the pictures.
func printDrawn(out io.Writer, list []pictureFile) {
	for i, d := range list {
		if i == 0 {
			_, _ = fmt.Fprintln(out)
		}
		_, _ = fmt.Fprintf(out, "picture of %s: %s\n", d.Of, d.Path)
	}
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

// checkedLine is what --format json prints of a history.
type checkedLine struct {
	Name string `json:"name"`
	jsonLine
	Findings []checker.Finding `json:"findings"`
	Differs  []string          `json:"differs,omitempty"` // from what was stored with the run
	Pictures []pictureFile     `json:"pictures,omitempty"`
}

func (j judged) line() any {
	l := line(stored{Result: j.result})
	l.Scenario = j.header.Scenario // and not what stands in for it in words
	return checkedLine{Name: j.name, jsonLine: l, Findings: j.result.Report.Findings, Differs: j.differs, Pictures: j.pictures}
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

// jepsenJudged is the result for a history of Jepsen.
type jepsenJudged struct {
	Name string `json:"name"`
	jepsen.Report
	Pictures []pictureFile `json:"pictures,omitempty"`
}

// judgeJepsen judges a history of Jepsen.
func (c checking) judgeJepsen(ctx context.Context, in input, text io.Reader) (verdicted, error) {
	switch {
	case len(c.only) > 0:
		return nil, errors.New("--property applies to histories of Lockstorm; this is one of Jepsen")
	case c.report.path != "":
		return nil, errors.New("--report applies to histories of Lockstorm; this is one of Jepsen")
	}
	report, err := jepsen.Judge(ctx, text, c.jepsen)
	if err != nil {
		return nil, err
	}
	j := jepsenJudged{Name: in.name, Report: report}
	for _, f := range report.Findings {
		if m, list := f.Excerpt(); c.picture != "" && len(list) > 0 {
			j.Pictures = append(j.Pictures, c.draw(in, f.Model, func() (excerpt.Excerpt, error) { return excerpt.Excerpt{Model: m, Operations: list}, nil })...)
		}
	}
	return j, nil
}

func (j jepsenJudged) tell(out io.Writer) {
	_, _ = fmt.Fprintf(out, "A history of Jepsen, workload %s: %d operations, %d of unknown outcome, keys: %d\n\n", j.Workload, j.Operations, j.Infos, j.Keys)
	verdicts := &textfmt.Table{Head: []string{"model", "verdict"}}
	for _, f := range j.Findings {
		verdicts.Add(f.Model, fmt.Sprint(f.Verdict))
	}
	printTable(out, verdicts)
	for _, f := range j.Findings {
		if f.Story != "" {
			_, _ = fmt.Fprintf(out, "\n%s %s:\n", f.Model, terminal.On(out).Verdicts(f.Verdict.String()))
			tell(out, f.Story)
		}
	}
	printDrawn(out, j.Pictures)
}

func (j jepsenJudged) line() any { return j }

func (j jepsenJudged) code() int {
	code := exitAsExpected
	for _, f := range j.Findings {
		switch f.Verdict {
		case checker.Violated:
			return exitContradiction
		case checker.Unknown:
			code = exitUndecided
		}
	}
	return code
}
