package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/rare"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// rareOptions are the flags of rare.
type rareOptions struct {
	rare.Options
	property string
	budget   time.Duration
	format   string
}

func newRare() *cobra.Command {
	o := rareOptions{Options: rare.Defaults()}
	cmd := &cobra.Command{
		Use:   "rare SCENARIO",
		Short: "Estimate the probability of a violation, down to 1e-9",
		Long: `Estimate the probability that a run of a scenario (a name or a YAML file) violates
backing, lease exclusion or section exclusion, by multilevel splitting: populations of runs
climb from level to level of a distance to the violation, such as the time for which a
quorum would still have backed a hold when it ended. The levels are chosen by a pilot, and
the estimate of each population is unbiased. Their spread gives the 95 % interval.

A probability of 1e-9 takes about a million runs, where plain runs would be some ten
thousand times as many. If a level is not reached by every population, or if these disagree,
there is no figure, and the reason is printed. "go doc ./internal/search/rare" says how the
distance is defined.

A contradiction (exit code 1) is a run that violates a property which the scenario expects
to hold. Without a figure the estimate is undecided.`,
		Example: `  lockstorm rare mine.yaml
  lockstorm rare mine.yaml --property V2 --repetitions 30 --format json`,
		Args: scenarioName,
	}
	f := cmd.Flags()
	f.StringVar(&o.property, "property", checker.Lease.Code(), "the property: backing (B), lease exclusion (V1) or section exclusion (V2)")
	f.IntVar(&o.Particles, "particles", o.Particles, "runs of a population")
	f.IntVar(&o.Moves, "moves", o.Moves, "moves of each run at each level")
	f.IntVar(&o.Repetitions, "repetitions", o.Repetitions, "independent populations")
	f.IntVar(&o.Runs, "runs", o.Runs, "runs after which nothing more is begun")
	f.DurationVar(&o.budget, "budget", 0, "time limit; then there is no figure (default: no limit)")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all that is drawn")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		wanted, err := findProperties("property", []string{o.property})
		if err != nil {
			return err
		}
		var e runner.Experiment
		s, err := findAnd(args[0], func(s scenarios.Scenario) (err error) {
			e, err = runner.Prepare(simulated.Backend(), s)
			return err
		})
		if err != nil {
			return err
		}
		ctx, done := withBudget(cmd.Context(), o.budget)
		defer done()
		return o.estimate(ctx, e, s, args[0], wanted[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// estimate makes the estimate and prints it.
func (o rareOptions) estimate(ctx context.Context, e runner.Experiment, s scenarios.Scenario, name string, p checker.Property, out, problems io.Writer) error {
	line := terminal.NewBar(problems, name, 0, terminal.Told)
	defer line.Done()
	began := time.Now()
	found, err := rare.Probability(ctx, rare.Always(e), p, o.Options, func(now rare.Progress) {
		if line.Due() {
			line.Say("")
			line.Left("%s runs, %s, %d of %d populations", textfmt.Grouped(now.Runs), textfmt.Count(now.Levels, "level"), now.Populations, o.Repetitions)
		}
	})
	line.Done()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if o.format == asJSON {
		err = writeJSON(out, rareJSONOf(name, found, time.Since(began)))
	} else {
		printRare(out, name, found)
	}
	if err != nil {
		return err
	}
	want, _ := s.Expect.Want(p)
	switch {
	case found.Witness != nil && want == checker.Holds:
		return verdictError(exitContradiction)
	case !found.Reliable():
		return verdictError(exitUndecided)
	}
	return nil
}

func printRare(out io.Writer, name string, e rare.Estimate) {
	terminal.Fit(out)
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n\n", name, e.Property.Title(), e.Property.Code())
	if e.Reliable() {
		_, _ = fmt.Fprintf(out, "violated with probability %.2g in a run, 95 %% interval %.2g to %.2g (±%.0f %%)\n", e.Probability, e.Low, e.High, 100*e.RelativeError())
		if per, ok := e.PerBillion(); ok {
			_, _ = fmt.Fprintf(out, "%.2g such runs in 10⁹ grants, at %.3g grants a run\n", per, e.Grants)
		}
		_, _ = fmt.Fprintf(out, "%s runs; plain runs for the same interval: %.2g, that is %.2g times as many\n", textfmt.Grouped(e.Runs), e.PlainRuns(), e.PlainRuns()/float64(e.Runs))
	} else {
		_, _ = fmt.Fprintf(out, "no figure, after %s runs:\n", textfmt.Grouped(e.Runs))
		for _, d := range e.Doubts {
			_, _ = fmt.Fprintf(out, "  %s\n", d)
		}
	}
	if len(e.Levels) > 0 && e.Levels[0].Share > 0 {
		_, _ = fmt.Fprintln(out)
		t := textfmt.Table{Head: []string{"level", "distance", "reached by", "least"}}
		for i, l := range e.Levels {
			t.Add(fmt.Sprint(i+1), fmt.Sprintf("%.3g", float64(l.Distance)), fmt.Sprintf("%.0f %%", 100*l.Share), fmt.Sprintf("%.0f %%", 100*l.Least))
		}
		t.Text(out, textfmt.Look{})
		_, _ = fmt.Fprintf(out, "%.0f %% of the moves to another distance were accepted\n", 100*e.Acceptance)
	}
	if e.Witness != nil {
		_, _ = fmt.Fprintf(out, "\na run that violates it:\n")
		tell(out, e.Witness.Report.Finding(e.Property).Lines()...)
	}
}

// rareJSON is what --format json prints. Without a figure, the probability and its interval are missing.
type rareJSON struct {
	Scenario    string      `json:"scenario"`
	Property    string      `json:"property"`
	Probability *float64    `json:"probability"`
	Low         *float64    `json:"low"`
	High        *float64    `json:"high"`
	Runs        int         `json:"runs"`
	PlainRuns   *float64    `json:"plain_runs_needed"`
	PerBillion  *float64    `json:"per_billion_grants,omitempty"`
	Seconds     float64     `json:"seconds"`
	Reliable    bool        `json:"reliable"`
	Doubts      []string    `json:"doubts,omitempty"`
	Acceptance  float64     `json:"acceptance"`
	Levels      []rareLevel `json:"levels"`
	Populations []float64   `json:"populations"` // the estimate of each
	Story       string      `json:"story,omitempty"`
}

type rareLevel struct {
	Distance float64 `json:"distance"`
	Share    float64 `json:"share"`
	Least    float64 `json:"least"`
}

func rareJSONOf(name string, e rare.Estimate, took time.Duration) rareJSON {
	j := rareJSON{
		Scenario: name, Property: e.Property.String(), Runs: e.Runs, Seconds: took.Seconds(), Reliable: e.Reliable(), Doubts: e.Doubts,
		Acceptance: e.Acceptance, Levels: []rareLevel{}, Populations: e.Repetitions,
	}
	if e.Reliable() {
		plain := math.Ceil(e.PlainRuns())
		j.Probability, j.Low, j.High, j.PlainRuns = &e.Probability, &e.Low, &e.High, &plain
		if per, ok := e.PerBillion(); ok {
			j.PerBillion = &per
		}
	}
	for _, l := range e.Levels {
		j.Levels = append(j.Levels, rareLevel{float64(l.Distance), l.Share, l.Least})
	}
	if e.Witness != nil {
		j.Story = e.Witness.Report.Finding(e.Property).Story()
	}
	return j
}
