package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

// tuneOptions are the flags of tune about its work.
type tuneOptions struct {
	runs   int
	seed   uint64
	format string
	out    string
	report reportFile
}

func newTune() *cobra.Command {
	var o tuneOptions
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "tune [FILE|FIELD=VALUE]…",
		Short: "Recommend TTL, drift allowance and delays for your nodes, clocks, clients and goals",
		Long: `Recommend TTL, drift factor, node timeout, retry delay, extension interval and restart
delay, from YAML files that describe the service and the goals, or single fields of them. A
later argument overrides an earlier one. The output of "lockstorm doctor --format json" is
such a file: name it first, so that zones that you state override what it measured from one
place. The fields:

  nodes: 5
  round_trip: {p50: 500us, p99: 2ms, max: 20ms}
  zones: [{nodes: 2, round_trip: 1ms..3ms}, {nodes: 3, round_trip: …}]   # instead of round_trip
  clocks: {rate_ppm: 500, largest_step: 0s}
  pauses: [{every: 10s, length: {p50: 2ms, p99: 40ms, max: 2s}}, {every: 24h, length: 2s}]
  crashes: {node_every: 720h, client_every: 24h, persistence: none}
  hold: {p50: 100ms, p99: 400ms, max: 500ms}
  contention: {clients: 8, think: 1s..5s}
  fence_checked: false, no_extension: false, ttl: 10s, longest_ttl: 10m, broken: []
  want: {availability: 0.999, acquire_p99: 100ms, violations_per_billion: 1}

Round trips and hold are needed. Other facts are unknown if omitted, and other goals
ignored. A length is 500us, 1ms..5ms (uniform), any percentiles with a max, or {samples: […]}.

The advice lists the assumption behind each figure and how certain it is, answers whether
you need fencing, and shows the alternatives; or it says why no setting meets the goals (exit
code 1). Simulated runs validate the setting. After Ctrl-C or the budget it is what the
model recommends, once first runs have measured how long clients wait.
"go doc ./internal/measure/tune" explains the calculation.`,
		Example: `  lockstorm tune service.yaml contention.clients=20
  lockstorm tune round_trip='{p50: 500us, p99: 2ms, max: 20ms}' hold=20ms..500ms
  lockstorm doctor r1:6379 r2:6379 r3:6379 --format json >servers.json
  lockstorm tune servers.json service.yaml --out advice`,
		Args: takes(0, anyNumber),
	}
	cmd.Flags().IntVar(&o.runs, "runs", 500, "runs of each trial that validates a setting")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed; the same seed gives the same advice")
	cmd.Flags().DurationVar(&budget, "budget", 0, "time limit (default: none)")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	cmd.Flags().StringVar(&o.out, "out", "", "new or empty `directory` for tune.json and scenarios of the validation, two of them also for real servers")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := question(args)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkFree(o.out), writableDir("--out", o.out), o.report.check("report"), q.Validate()); err != nil {
			return err
		}
		for _, text := range q.Replaced() {
			complain(cmd.ErrOrStderr(), errors.New(text))
		}
		ctx, cancel := withBudget(cmd.Context(), budget)
		defer cancel()
		a, err := o.advise(ctx, q, cmd.OutOrStdout(), cmd.ErrOrStderr())
		return o.report.after(cmd, err, "advice", func(_ context.Context, r *report.Report) error { return r.Advice(a, o.out) })
	}
	return cmd
}

// fieldWord is an argument that states a field; ./a=b is a file.
var fieldWord = regexp.MustCompile(`^([a-z][a-z0-9_.]*)=(.*)$`)

// question returns the question that files and fields ask.
func question(args []string) (q tune.Question, err error) {
	q = tune.Usual()
	for _, arg := range args {
		if word := fieldWord.FindStringSubmatch(arg); word != nil {
			err = q.Set(word[1], word[2])
		} else {
			err = q.Read(arg)
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// advise finds the advice, stores it, prints it and returns it.
func (o tuneOptions) advise(ctx context.Context, q tune.Question, out, problems io.Writer) (tune.Advice, error) {
	line := terminal.NewBar(problems, "choosing", int64(o.runs), terminal.Pieces)
	defer line.Done()
	before := 0 // runs of what was done before the last
	a, err := tune.Advise(ctx, q, tune.Options{
		Backend: simulated.Backend(), Runs: o.runs, Seed: o.seed,
		Progress: func(what string, runs, done int) {
			if done == 0 {
				line.Call("%s", what)
			}
			line.At(before+done, before+runs)
			if done == runs {
				before += runs
			}
		},
	})
	line.Done()
	a.Program = thisProgram()
	stopped := ctx.Err() != nil && errors.Is(err, ctx.Err())
	switch {
	case stopped && a.Recommended == nil && errors.Is(err, context.DeadlineExceeded):
		complain(problems, errors.New("nothing is recommended: the --budget was over while first runs measured how long clients wait"))
		return tune.Advice{}, verdictError(exitUndecided)
	case err != nil && (!stopped || a.Recommended == nil):
		return a, err
	}
	var unstored error
	if o.out != "" && !stopped {
		if unstored = storeAdvice(o.out, a); unstored != nil {
			o.out = ""
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
		return a, fmt.Errorf("--out: %w", unstored)
	case stopped:
		return a, verdictError(exitUndecided)
	case a.Refusal != "":
		return a, verdictError(exitContradiction)
	}
	return a, nil
}
