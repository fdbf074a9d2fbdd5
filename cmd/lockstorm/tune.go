package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/tune"
)

// tuneOptions are the flags of tune that say how.
type tuneOptions struct {
	runs   int
	seed   uint64
	asJSON bool
	out    string
	report reportFile
}

func newTune() *cobra.Command {
	var o tuneOptions
	var measure measuring
	cmd := &cobra.Command{
		Use:   "tune [FILE]",
		Short: "Recommend settings for what is known of nodes, clocks and clients, and for what is wanted",
		Long: `Recommend TTL, drift factor, node timeout, retry delay, extension interval and
restart delay for what is known (in a YAML file, or by flags, which count before it)
and for what is wanted. It tells which assumption each figure rests on and how sure it
is, and the settings among which there is a choice; or why no setting meets the wish.
What it recommends has been validated by runs in the simulator with other seeds than
those that chose it. How it reckons says "go doc ./internal/tune".

A distribution is {min: 1ms, max: 5ms} (uniform; for a flag 1ms..5ms or 500us, too),
{max: 5ms, log_normal: {median: 500us, sigma: 0.4}}, {max: 2s, pareto: {scale: 5ms,
alpha: 2}}, or {samples_from: FILE}: one duration a line, as in 1.2ms, or a number of
milliseconds; of samples of pauses max says that none is longer. With --measure round
trips are measured: each server is asked PING, at a gentle pace, and nothing else (but
HELLO and what a connection may need beside it: AUTH, SELECT).

Exit codes: 0 a setting is recommended; 1 none meets the wish; 2 bad usage or input,
or wishes that contradict what is known; 3 interrupted.`,
		Example: `  lockstorm tune service.yaml
  lockstorm tune --round-trip '{max: 20ms, log_normal: {median: 500us, sigma: 0.4}}' \
    --clock-ppm 500 --pause-bound 50ms --hold 20ms..500ms --clients 8 --think 1s..5s \
    --violations 1 --acquire-p99 100ms
  lockstorm tune service.yaml --measure r1:6379,r2:6379,r3:6379 --out advice`,
		Args: cobra.MaximumNArgs(1),
	}
	known := knownFlags(cmd.Flags())
	measure.flags(cmd.Flags())
	cmd.Flags().IntVar(&o.runs, "runs", 500, "number of runs of each trial that validates a setting")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "seed; the same one gives the same advice")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the advice as JSON, and nothing else")
	cmd.Flags().StringVar(&o.out, "out", "", "`directory`, new or empty, that gets tune.json, front.csv, a picture of the choice and the scenarios of the validation")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := measure.asked(cmd.Flags()); err != nil {
			return err
		}
		if o.runs < 1 {
			return fmt.Errorf("--runs %d: want at least 1", o.runs)
		}
		q, err := known.question(args)
		if err != nil {
			return err
		}
		if err := cmp.Or(checkFree(o.out), o.report.check("report")); err != nil {
			return err
		}
		if err := measure.into(cmd.Context(), &q, cmd.ErrOrStderr()); err != nil {
			return err
		}
		if err := q.Validate(); err != nil {
			return err
		}
		a, err := o.advise(cmd.Context(), q, cmd.OutOrStdout(), cmd.ErrOrStderr())
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
		Backend: simulated.Backend(), Runs: o.runs, Seed: o.seed,
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
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && a.WeighedSettings > 0 && !o.asJSON {
		terminal.Fit(out)
		printUnfinished(out, a)
		return a, verdictError(exitUndecided)
	}
	if err != nil {
		return a, err
	}
	if o.out != "" {
		if err := storeAdvice(o.out, a); err != nil {
			return a, fmt.Errorf("--out: %w", err)
		}
	}
	if o.asJSON {
		if err := writeJSON(out, a); err != nil {
			return a, err
		}
	} else {
		terminal.Fit(out)
		printTuning(out, a, o)
	}
	if a.Refusal != "" {
		return a, verdictError(exitContradiction)
	}
	return a, nil
}

func writeJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// checkFree refuses a directory in which something would be written over.
func checkFree(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--out %s: there is something in it, and nothing is written over", dir)
	}
	return nil
}
