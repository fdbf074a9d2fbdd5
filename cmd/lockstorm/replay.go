package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

func newReplay() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "replay STRING|DIR",
		Short: "Run a simulated run again, exactly",
		Long: `Run a simulated run again, exactly: from the replay string that "lockstorm run"
prints for a scenario of the table with --faults, or from the directory of any
run in the simulator. Exit codes are those of run; and 1 if the repetition is not
the same run, because this program or the scenario is not the one that it was.`,
		Example: `  lockstorm replay v1.calm.52.g2.4.crash,partition,latency.906be8f5.1ff1
  lockstorm replay runs/crash-restart-sim-1`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&out, "out", "runs", "directory that gets a directory for the run")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := findReplay(args[0])
		if err != nil {
			return err
		}
		return r.run(cmd.Context(), out, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// replay is one run that is to be repeated.
type replay struct {
	again    repetition
	scenario scenarios.Scenario
	seed     uint64
	same     func(storm.Result) bool
	trace    string // of the first run, or its begin
}

// findReplay takes a replay string or the directory of a run.
func findReplay(arg string) (replay, error) {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return replayOfDir(arg)
	}
	text, err := storm.ParseReplay(arg)
	if err != nil {
		return replay{}, err
	}
	s, err := text.Find()
	return replay{
		again:    repetition{name: text.Scenario, backend: backends[0].Backend, stormy: text.Generator != nil},
		scenario: s,
		seed:     text.Seed,
		same:     text.Same,
		trace:    fmt.Sprintf("%08x", text.Trace),
	}, err
}

func replayOfDir(dir string) (replay, error) {
	run, err := results.Load(dir)
	if err != nil {
		return replay{}, err
	}
	b, err := findBackend(run.Backend)
	switch {
	case err != nil:
		return replay{}, fmt.Errorf("%s: %w", dir, err)
	case !b.Exact:
		return replay{}, fmt.Errorf("%s: a run of the %s backend cannot be repeated exactly", dir, b.Name)
	case run.Cut:
		return replay{}, fmt.Errorf("%s: the run was interrupted, so it cannot be repeated exactly", dir)
	}
	return replay{
		again:    repetition{name: dir, backend: b},
		scenario: run.Scenario.Scenario,
		seed:     run.Seed,
		same:     func(r storm.Result) bool { return results.Hash(r.TraceHash) == run.TraceHash },
		trace:    run.TraceHash,
	}, nil
}

func (r replay) run(ctx context.Context, out string, stdout, problems io.Writer) error {
	e, err := storm.Prepare(r.again.backend, r.scenario)
	if err != nil {
		return err
	}
	o := runOptions{seed: r.seed, runs: 1, out: out}
	tally, last, err := o.run(ctx, e, r.again, stdout, problems)
	switch {
	case err != nil:
		return err
	case tally.Interrupted:
		return verdictError(exitUndecided)
	}
	if hash := results.Hash(last.TraceHash); !r.same(last.Result) {
		_, _ = fmt.Fprintf(stdout, "not the same run: its trace is %s, and was %s. This program or the scenario is not the one that it was.\n", hash[:min(len(hash), len(r.trace))], r.trace)
		return verdictError(exitContradiction)
	}
	_, _ = fmt.Fprintf(stdout, "the same run: its trace is %s\n", r.trace)
	return exitFor(tally.Conclusion())
}
