package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// mutantOptions are the flags of mutants.
type mutantOptions struct {
	budget   time.Duration
	runs     int
	seed     uint64
	control  int
	asJSON   bool
	markdown bool
}

// unmutated is the number of the lock without a defect.
const unmutated = "0"

func newMutants() *cobra.Command {
	var o mutantOptions
	cmd := &cobra.Command{
		Use:   "mutants [NUMBER…]",
		Short: "Plant defects into the lock and see whether the hunt finds them",
		Long: `Plant defects such as real lock libraries had into the lock's source, one at a time,
and hunt each with generated faults until a broken promise is found. Number 0 is the lock
without a defect: any find there is a false alarm. Without a NUMBER all mutants are
tried, 0 first. For the numbers up to 100 the hunt was widened until it caught them, so
only the others, from 101, say how good it is.

The mutants are compiled: this needs a checkout of the project and the Go toolchain.

Exit codes: 0 all defects were caught and there was no false alarm; 1 otherwise; 2 bad
usage or input, no checkout or no toolchain; 3 interrupted, and as expected until then.`,
		Example: `  lockstorm mutants
  lockstorm mutants 7a 11 --budget 10s
  lockstorm mutants 0 --control 1000000`,
	}
	o.subjectFlags(cmd, 0)
	cmd.Flags().DurationVar(&o.budget, "budget", 30*time.Second, "time to hunt each mutant, without compilation")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print a JSON object for each mutant, and one for the score")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print the table as Markdown")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	cmd.RunE = func(cmd *cobra.Command, numbers []string) error {
		if o.budget <= 0 {
			return fmt.Errorf("--budget %v: want more than 0", o.budget)
		}
		checkout, chosen, err := o.settle(numbers)
		if err != nil {
			return err
		}
		return o.run(cmd.Context(), checkout, chosen, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// subjectFlags adds the flags that say what is hunted, and how much: also those of a campaign.
func (o *mutantOptions) subjectFlags(cmd *cobra.Command, runs int) {
	cmd.Flags().IntVar(&o.runs, "runs", runs, "most runs to hunt each mutant, regardless of the time")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed of the hunts")
	cmd.Flags().IntVar(&o.control, "control", 0, "number of runs of the lock without a defect, regardless of the time (default: as a mutant has)")
}

// settle checks these flags, and returns what is hunted.
func (o *mutantOptions) settle(numbers []string) (c mutants.Checkout, chosen []mutants.Mutant, err error) {
	switch {
	case o.runs < 0:
		return c, nil, fmt.Errorf("--runs %d: want at least 0", o.runs)
	case o.control < 0:
		return c, nil, fmt.Errorf("--control %d: want at least 0", o.control)
	}
	if chosen, err = chooseMutants(numbers); err != nil {
		return c, nil, err
	}
	if o.control > 0 && !slices.ContainsFunc(chosen, func(m mutants.Mutant) bool { return m.Number == "" }) {
		return c, nil, fmt.Errorf("--control needs mutant %s, the lock without a defect", unmutated)
	}
	if c, err = mutants.FindCheckout("."); err != nil {
		return c, nil, err
	}
	for _, m := range chosen { // before an hour has been spent on the others
		if err := c.Check(m); err != nil {
			return c, nil, err
		}
	}
	return c, chosen, nil
}

// runsOf returns the number of runs of a mutant; 0: as many as there is time for.
func (o *mutantOptions) runsOf(m mutants.Mutant) int {
	if m.Number == "" && o.control > 0 {
		return o.control
	}
	return o.runs
}

// chooseMutants returns the mutants with the given numbers, or all. The lock without a defect is
// included once for each kind of lock among them.
func chooseMutants(numbers []string) (chosen []mutants.Mutant, err error) {
	all, err := mutants.All()
	if err != nil {
		return nil, err
	}
	known := []string{unmutated}
	var kinds []string
	for _, m := range all {
		known = append(known, m.Number)
		if !slices.Contains(kinds, m.Lock) {
			kinds = append(kinds, m.Lock)
		}
	}
	for _, n := range numbers {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("unknown mutant %q: there are %s", n, strings.Join(known, ", "))
		}
	}
	wanted := func(n string) bool { return len(numbers) == 0 || slices.Contains(numbers, n) }
	if wanted(unmutated) {
		for _, kind := range kinds {
			chosen = append(chosen, mutants.Mutant{Lock: kind})
		}
	}
	for _, m := range all {
		if wanted(m.Number) {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// run tries the chosen mutants and prints the results.
func (o mutantOptions) run(ctx context.Context, c mutants.Checkout, chosen []mutants.Mutant, out, problems io.Writer) error {
	s, err := o.score(ctx, c, chosen, out, problems)
	if err != nil {
		return err
	}
	if err := o.print(s, out); err != nil {
		return err
	}
	return s.verdict()
}

// verdict returns the exit code of the score.
func (s *mutantScore) verdict() error {
	switch {
	case s.Alarms > 0 || s.Caught < s.Mutants:
		return verdictError(exitContradiction)
	case s.Stopped:
		return verdictError(exitUndecided)
	}
	return nil
}

// score tries one mutant after another until ctx ends. With --json each result is printed at once.
func (o mutantOptions) score(ctx context.Context, c mutants.Checkout, chosen []mutants.Mutant, out, problems io.Writer) (s mutantScore, err error) {
	bar := terminal.NewBar(problems, "mutants", int64(len(chosen)), terminal.Steps)
	defer bar.Done()
	for i, m := range chosen {
		t, err := o.try(ctx, c, m, func(what string) {
			bar.Call("%s mutant %s", what, cmp.Or(m.Number, unmutated))
			bar.Say("%s", o.left(chosen[i:]))
		})
		bar.Step()
		switch {
		case ctx.Err() != nil: // what it had found by then is not all that it could
			s.Stopped = true
			return s, nil
		case err != nil:
			return s, err
		}
		s.add(t)
		if o.asJSON {
			if err := json.NewEncoder(out).Encode(recordOf(t)); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// left says how long the hunts can take, without building, if that is known.
func (o mutantOptions) left(chosen []mutants.Mutant) string {
	if o.runs > 0 {
		return ""
	}
	return fmt.Sprintf(", at most %v left", time.Duration(len(chosen))*o.budget)
}

// print prints all results.
func (o mutantOptions) print(s mutantScore, out io.Writer) error {
	switch {
	case o.asJSON:
		return json.NewEncoder(out).Encode(map[string]mutantScore{"score": s})
	case o.markdown:
		s.table().Markdown(out)
	default:
		terminal.Fit(out)
		printTable(out, s.table())
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", s.words())
	return nil
}

func (o mutantOptions) try(ctx context.Context, c mutants.Checkout, m mutants.Mutant, tell func(string)) (t mutants.Trial, err error) {
	t, err = c.Try(ctx, m, mutants.Effort{Seed: o.seed, Budget: o.budget, Runs: o.runsOf(m)}, tell)
	if err != nil {
		err = fmt.Errorf("mutant %s: %w", cmp.Or(m.Number, unmutated), err)
	}
	return t, err
}

// mutantScore is the summary of the trials.
type mutantScore struct {
	Mutants     int `json:"mutants"`
	Caught      int `json:"caught"`
	AsNamed     int `json:"as_named"`     // by a property that is named for the defect
	Alarms      int `json:"alarms"`       // of locks without a defect
	ControlRuns int `json:"control_runs"` // runs of these

	// Tested counts those of these runs that put each property to the test.
	Tested map[checker.Property]int `json:"tested,omitempty"`

	Seconds float64 `json:"seconds"` // hunted, all of them
	Stopped bool    `json:"stopped"` // before all of them had been tried

	trials []mutants.Trial
}

func (s *mutantScore) add(t mutants.Trial) {
	s.trials = append(s.trials, t)
	s.Seconds += t.Seconds
	o := outcomeOf(t)
	if t.Controls() {
		s.ControlRuns += t.Runs
		s.tested(t)
	} else {
		s.Mutants++
	}
	switch o {
	case alarm:
		s.Alarms++
	case asNamed:
		s.AsNamed++
		fallthrough
	case another:
		s.Caught++
	}
}

// tested counts the runs of a trial that put properties to the test.
func (s *mutantScore) tested(t mutants.Trial) {
	if s.Tested == nil {
		s.Tested = map[checker.Property]int{}
	}
	for p, n := range t.Tested {
		s.Tested[p] += n
	}
}

// tests lists these counts.
func (s *mutantScore) tests() string {
	var parts []string
	for _, p := range checker.Properties() {
		if n := s.Tested[p]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.Code(), n))
		}
	}
	return strings.Join(parts, ", ")
}

// words returns the score in a few sentences. It counts the defects that the hunt was widened for
// apart from those that say how good it is.
func (s *mutantScore) words() string {
	var parts []string
	for _, unseen := range []bool{false, true} {
		if of := s.only(unseen); of.Mutants > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d of %d caught, %d by a property that is named.", groupWords[unseen], of.Caught, of.Mutants, of.AsNamed))
		}
	}
	if s.ControlRuns > 0 {
		parts = append(parts, fmt.Sprintf("%d false alarms in %d runs without a defect; runs that exercised each property: %s.", s.Alarms, s.ControlRuns, s.tests()))
	}
	if s.Stopped {
		parts = append(parts, stoppedLine)
	}
	return strings.Join(parts, " ")
}

// groupWords names the defects that are [mutants.Mutant.Unseen], and the others.
var groupWords = map[bool]string{false: "Defects of the catalogue, for which the hunt was widened", true: "Defects for which it was not changed (from 101)"}

// only returns the score of one of the two groups of defects.
func (s *mutantScore) only(unseen bool) (of mutantScore) {
	for _, t := range s.trials {
		if !t.Controls() && t.Unseen() == unseen {
			of.add(t)
		}
	}
	return of
}

func (s *mutantScore) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"number", "defect", "should break", "found", "runs"}}
	timed := s.Seconds > 0 // a campaign's results have no times
	if timed {
		t.Head = append(t.Head, "seconds", "build")
	}
	t.Head = append(t.Head, "source")
	for _, trial := range s.trials {
		r := recordOf(trial)
		runs, seconds := trial.Runs, trial.Seconds
		if f := trial.Caught(); f != nil {
			runs, seconds = f.Run, f.Seconds
		}
		cells := []string{r.Number, r.Title, textfmt.Dash(strings.Join(mutants.Codes(trial.Names), ", ")), foundBy(trial), fmt.Sprint(runs)}
		if timed {
			cells = append(cells, fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.1f", r.BuildSeconds))
		}
		t.Add(append(cells, textfmt.Dash(strings.Join(trial.Sources, ", ")))...)
	}
	return t
}

// foundBy returns the violated properties of a trial, for a cell.
func foundBy(t mutants.Trial) string {
	switch o := outcomeOf(t); o {
	case alarm:
		return "ALARM: " + t.Caught().Property.Code()
	case another:
		return t.Caught().Property.Code() + " (another)"
	case asNamed:
		return t.Caught().Property.Code()
	default:
		return string(o)
	}
}

// outcome returns the result of a trial.
type outcome string

const (
	nothing outcome = "nothing" // was found of the lock without a defect
	alarm   outcome = "alarm"   // something was
	missed  outcome = "missed"
	another outcome = "another" // caught, by a property that is not named
	asNamed outcome = "as_named"
)

func outcomeOf(t mutants.Trial) outcome {
	found := t.Caught() != nil
	switch {
	case t.Controls() && !found:
		return nothing
	case t.Controls():
		return alarm
	case !found:
		return missed
	case !t.AsNamed():
		return another
	}
	return asNamed
}

// trialRecord is what --json prints of one trial.
type trialRecord struct {
	Number       string             `json:"number"`
	Title        string             `json:"title"`
	ShouldBreak  []checker.Property `json:"should_break,omitempty"`
	Outcome      outcome            `json:"outcome"`
	BuildSeconds float64            `json:"build_seconds"`
	mutants.Report
}

func recordOf(t mutants.Trial) trialRecord {
	r := trialRecord{
		Number: t.Number, Title: t.Title, ShouldBreak: t.Names,
		Outcome: outcomeOf(t), BuildSeconds: t.Build.Seconds(), Report: t.Report,
	}
	if t.Controls() {
		r.Number, r.Title = unmutated, "none: "+t.Lock+" as it is"
	}
	return r
}
