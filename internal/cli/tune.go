package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// tuneOptions are the flags of tune about its work.
type tuneOptions struct {
	runs     int
	seed     uint64
	estimate bool
	format   string
	out      string
	report   reportFile
}

func newTune() *cobra.Command {
	var o tuneOptions
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "tune [FILE|NAME=VALUE]…",
		Short: "Recommend TTL, drift allowance and delays for your nodes, clocks, clients and goals",
		Long: `Recommend TTL, drift factor, node timeout, retry delay, extension interval and restart
delay. Describe your nodes, clocks and clients, and your goals, in YAML files or by
NAME=VALUE. A later file overrides an earlier one, NAME=VALUE overrides files. Omitted
facts are treated as unknown, omitted goals are ignored. The output of "lockstorm doctor
--format json" is such a file: it states the number of nodes, their round trips and
their persistence.

` + factsHelp() + `
The advice lists the assumption behind each figure and how certain it is, and the
Pareto-optimal alternatives; or the reason why no setting meets the goals. Simulated
runs, with other seeds than those that selected it, validate the recommended setting;
the advice says if they did not, or not in full. After Ctrl-C or the budget it is what
the model recommends. "go doc ./internal/measure/tune" explains the calculation.

Violations in 10⁹ grants are reckoned, because so few runs cannot measure them. With
--estimate multilevel splitting also estimates how many of the longest holds are late
because of pauses ("lockstorm rare" explains it), and the advice says whether the two agree.

A distribution is {min: 1ms, max: 5ms} (uniform; also 1ms..5ms or 500us), {max: 5ms,
log_normal: {median: 500us, sigma: 0.4}}, {max: 2s, pareto: {scale: 5ms, alpha: 2}}, or
{samples_from: FILE} with one duration per line (1.2ms, or a number of milliseconds). For
pauses, max states that no pause is longer.

Goals that no setting meets are a contradiction (exit code 1).`,
		Example: `  lockstorm tune service.yaml
  lockstorm tune round-trip='{max: 20ms, log_normal: {median: 500us, sigma: 0.4}}' \
    clock-ppm=500 pause-bound=50ms hold=20ms..500ms clients=8 think=1s..5s \
    violations=1 acquire-p99=100ms
  lockstorm doctor r1:6379 r2:6379 r3:6379 --format json >servers.json
  lockstorm tune servers.json service.yaml --out advice`,
		Args: takes(0, anyNumber),
	}
	cmd.Flags().IntVar(&o.runs, "runs", 500, "runs of each trial that validates a setting")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed; the same seed gives the same advice")
	cmd.Flags().DurationVar(&budget, "budget", 0, "time limit (default: none)")
	cmd.Flags().BoolVar(&o.estimate, "estimate", false, "also estimate from runs how many holds are late, beside the model's figure (minutes)")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	cmd.Flags().StringVar(&o.out, "out", "", "new or empty `directory` for tune.json, front.csv, a picture of the alternatives, the scenarios of the validation and two for real servers")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := question(args)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkFree(o.out), writableDir("--out", o.out), o.report.check("report")); err != nil {
			return err
		}
		if err := q.Validate(); err != nil {
			return err
		}
		ctx, cancel := withBudget(cmd.Context(), budget)
		defer cancel()
		a, err := o.advise(ctx, q, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return o.report.after(cmd, err, "advice", func(_ context.Context, r *report.Report) error { return r.Advice(a) })
	}
	return cmd
}

// advise finds the advice, stores it, prints it and returns it.
func (o tuneOptions) advise(ctx context.Context, q tune.Question, out, problems io.Writer) (tune.Advice, error) {
	line := terminal.NewBar(problems, "choosing", int64(o.runs), terminal.Pieces)
	defer line.Done()
	before, last := 0, "" // runs of what was done before the last
	a, err := tune.Advise(ctx, q, tune.Options{
		Backend: simulated.Backend(), Runs: o.runs, Seed: o.seed, Estimate: o.estimate,
		Progress: func(what string, runs, done int) {
			if what != last {
				line.Call("%s", what)
				last = what
			}
			line.At(before+done, before+runs)
			if done == runs {
				before, last = before+runs, ""
			}
		},
	})
	line.Done()
	a.Program = thisProgram()
	stopped := ctx.Err() != nil && errors.Is(err, ctx.Err()) && a.Recommended != nil
	if err != nil && !stopped {
		return a, err
	}
	var unstored error
	if o.out != "" && !stopped {
		if err := storeAdvice(o.out, a); err != nil {
			unstored, o.out = fmt.Errorf("--out: %w", err), ""
		}
	}
	if o.format == asJSON {
		if err := writeJSON(out, a); err != nil {
			return a, err
		}
	} else {
		terminal.Fit(out)
		printTuning(out, a, o.out)
	}
	switch {
	case unstored != nil: // after the advice, which is worth minutes
		return a, unstored
	case stopped:
		return a, verdictError(exitUndecided)
	case a.Refusal != "":
		return a, verdictError(exitContradiction)
	}
	return a, nil
}
