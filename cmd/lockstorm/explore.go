package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	properties []string
	bounds     explore.Bounds
	executions int
	workers    int
	path       string
	json       bool
}

// everyFault is the value of --faults that allows all faults of the plan.
const everyFault = -1

func newExplore() *cobra.Command {
	var o exploreOptions
	cmd := &cobra.Command{
		Use:   "explore SCENARIO",
		Short: "Make every run of a small world: a proof within bounds, or the shortest counterexample",
		Long: `Make every run of a scenario (a name or a YAML file) within bounds, on all cores. If none
violates a property, none can within these bounds: a proof about the code of the lock.
Otherwise print the shortest run that does, with a path that repeats it.

A run chooses at each point: how long a message takes (--latencies of the scenario's
range: 2 are the shortest and the longest), which number a client draws (a random one, or
one of --draws values), and which of several events of one machine at the same instant
comes first. It takes another way than the first at --deviations points at most; -1 is no
limit, and soon too much. It has at most --faults faults of the scenario's plan, when the
plan says or, with --tick, at any multiple of that time. Random numbers follow from one
seed. Requests do not share connections. A fault comes before everything else of its
instant.

Runs that show nothing new are left out: other orders of simultaneous events of different
machines, and what follows a state that was seen before. "go doc ./internal/explore" says
why that is sound. Ctrl-C stops; nothing is then said to hold. --path repeats one run.

Exit codes: 0 as the scenario expects (without expectations: no violation); 1 another
verdict; 2 bad usage or input; 3 unfinished.`,
		Example: `  lockstorm explore delayed-restart
  lockstorm explore crash-restart --property V1 --json
  lockstorm explore tiny.yaml --deviations 2 --faults 1 --tick 10ms`,
		Args: scenarioName,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.properties, "property", nil, "judge only these properties, by name or code: lease,V4")
	f.IntVar(&o.bounds.Latencies, "latencies", explore.DefaultLatencies, "number of latencies that a message can have")
	f.IntVar(&o.bounds.Draws, "draws", explore.DefaultDraws, "number of values that a client can draw from a range beside a random one")
	f.IntVar(&o.bounds.Deviations, "deviations", explore.DefaultDeviations, "maximum number of points of a run at which another way is taken than the first; -1: no limit")
	f.IntVar(&o.bounds.Faults, "faults", everyFault, "maximum number of faults of the plan in a run; -1: all")
	f.DurationVar(&o.bounds.Tick, "tick", 0, "faults with a start in time begin at every multiple of this (default: when the plan says)")
	f.IntVar(&o.executions, "runs", 0, "maximum number of runs with the same faults (default: no limit)")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "choices of faults that are explored at a time")
	f.StringVar(&o.path, "path", "", "repeat the run of this path, and nothing else")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else")
	cmd.MarkFlagsMutuallyExclusive("path", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		wanted, err := o.settle()
		if err != nil {
			return err
		}
		s, err := findAnd(args[0], func(s scenarios.Scenario) error {
			_, err := runner.Prepare(simulated.Backend(), s)
			return err
		})
		if err != nil {
			return err
		}
		if o.path != "" {
			return o.repeat(cmd.Context(), s, cmd.OutOrStdout())
		}
		if o.bounds.Faults == everyFault {
			o.bounds.Faults = len(s.Plan)
		}
		return o.explore(cmd.Context(), s, args[0], wanted, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// settle checks the flags and returns the properties to judge.
func (o *exploreOptions) settle() ([]checker.Property, error) {
	switch {
	case o.executions < 0:
		return nil, fmt.Errorf("--runs %d: want 0 or more", o.executions)
	case o.workers < 1:
		return nil, fmt.Errorf("--workers %d: want at least 1", o.workers)
	case o.bounds.Faults < everyFault:
		return nil, fmt.Errorf("--faults %d: want -1 or more", o.bounds.Faults)
	}
	if len(o.properties) == 0 {
		return checker.Properties(), nil
	}
	return findProperties(o.properties)
}

// explore explores and prints what that shows.
func (o exploreOptions) explore(ctx context.Context, s scenarios.Scenario, name string, wanted []checker.Property, out, problems io.Writer) error {
	line := terminal.NewBar(problems, s.Name, 0, terminal.Told)
	defer line.Done()
	began := time.Now()
	outcome, err := explore.Explore(ctx, s, o.bounds, explore.Limits{Executions: o.executions, Workers: o.workers}, wanted, func(now explore.Outcome) {
		if line.Due() {
			line.Say("")
			line.Left("%s runs, %s states, about %.1f %% done", textfmt.Grouped(now.Executions+now.Cut), textfmt.Grouped(now.States), 100*now.Share)
		}
	})
	line.Done()
	if err != nil {
		return err
	}
	shown := exploration{outcome: outcome, bounds: o.bounds, name: name, took: time.Since(began)}
	if o.json {
		err = writeJSON(out, shown.json())
	} else {
		shown.print(out)
	}
	if err != nil {
		return err
	}
	return shown.ended(s)
}

// repeat repeats the run of a path and prints what it violates.
func (o exploreOptions) repeat(ctx context.Context, s scenarios.Scenario, out io.Writer) error {
	path, err := explore.ParsePath(o.path)
	if err != nil {
		return fmt.Errorf("--path: %w", err)
	}
	terminal.Fit(out)
	r, same, err := path.Run(ctx, s, nil)
	if err != nil {
		return fmt.Errorf("--path: %w", err)
	}
	violated := false
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Violated {
			violated = true
			_, _ = fmt.Fprintf(out, "%s violated:\n", f.Property.Title())
			tell(out, f.Lines()...)
		}
	}
	if !violated {
		_, _ = fmt.Fprintln(out, "no property is violated")
	}
	if !same {
		_, _ = fmt.Fprintln(out, "not the run of before: the program or the scenario has changed")
	}
	if violated || !same {
		return verdictError(exitContradiction)
	}
	return nil
}
