package cli

import (
	"context"
	"errors"
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
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	lookup     finder
	properties []string
	bounds     explore.Bounds
	executions int
	workers    int
	budget     time.Duration
	kinds      []string
	state      string
	shard      shardFlag
	merge      []string
	full       bool
	quick      bool
	json       bool
	given      []string // the flags that were given and change what is explored
}

// exploredOnce are the flags of explore that do not change what is explored.
var exploredOnce = []string{"quick", "json", "budget", "workers", "state", "shard", "merge", colourFlag}

// quickEvents is how many events there are with --quick in the runs with one choice of faults.
const quickEvents = 400_000

// everyFault is the value of --faults that allows all faults of the plan.
const everyFault = -1

const exploreHelp = `Make every run of a scenario (a name or a YAML file) within bounds, on all cores. If none
violates a property, that is proved of the lock's code within these bounds, and of no run
beyond them. Otherwise print the shortest of these runs that does, with a string for
lockstorm replay. The output lists the bounds.

A named scenario is explored in its smallest world: the fewest clients, nodes and rounds
with which the runs without deviations show the same verdicts. --full keeps its size. A
file is explored as it is. Of several scenarios a table is printed. --quick explores the
whole debate, or the given scenarios, in less than a minute: of each only as many
deviations as it has runs for, and the table says how many.

A run chooses at each point: how long a message takes (--latencies of the scenario's
range: 2 are the shortest and the longest), which number a client, a node, the store or a
fault draws (a random one, or one of --draws values), how many of its latest changes a
node loses with its power or its master, and which of several events of one machine at the
same instant comes first. It takes another way than the first at --deviations points at
most; -1 is no limit, and soon too much. The runs with fewer deviations come first. A run
has at most --faults faults of the scenario's plan, when the plan says or, with --tick, at
any multiple of that time. Tokens follow from one seed. Requests do not share connections.
A fault comes before everything else of its instant.

--add lets a run have --added faults more, of these kinds: of any machine, at any multiple
of --tick, or of half of the TTL. Pauses, suspensions and deaths of a client also begin at
each of its steps. They last as long as a TTL; clocks jump by a TTL, forward or back, or run
a fifth too fast or too slow.

Runs that show nothing new are left out: other orders of simultaneous events of different
machines, and what follows a state that was seen before. "go doc ./internal/explore" says
why that is sound. Runs in which faults overlap on one target are left out and counted.
Ctrl-C stops, and so does the end of --budget; nothing is then said to hold.

With --state a long exploration is continued where it was stopped or killed. The file has a
hash, and only the build that wrote it reads it. --shard makes a part of the runs, on
another machine for example; --merge joins the parts. With --shard auto/n a
Slurm array (SLURM_ARRAY_TASK_ID) or an Indexed Job of Kubernetes (JOB_COMPLETION_INDEX)
chooses the part, and the exit code is 0 if it is made: --merge gives the verdict.

Exit codes: 0 as the scenario expects (without expectations: no violation); 1 another
verdict; 2 bad usage or input; 3 unfinished.`

const exploreExample = `  lockstorm explore delayed-restart
  lockstorm explore crash-restart --property V1 --json
  lockstorm explore tiny.yaml --deviations 2 --faults 1 --tick 10ms
  lockstorm explore calm --add pause,clock-jump,clock-rate --deviations 0
  lockstorm explore crash-restart short-restart delayed-restart
  lockstorm explore quarantine --deviations 2 --state quarantine.json
  lockstorm explore calm --deviations 2 --shard 1/2 --state 1.json
  lockstorm explore calm --deviations 2 --merge 1.json,2.json
  lockstorm explore --quick`

func newExplore() *cobra.Command {
	o := exploreOptions{lookup: findAnd}
	cmd := &cobra.Command{
		Use:     "explore SCENARIO...",
		Short:   "Make every run of a small world: a proof within bounds, or the shortest counterexample",
		Long:    exploreHelp,
		Example: exploreExample,
	}
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.quick && len(args) == 0 {
			args = names(scenarios.All(), func(s scenarios.Scenario) string { return s.Name })
		}
		wanted, err := o.settle(cmd, args)
		if err != nil {
			return err
		}
		o.given = givenWords(cmd.Flags(), but(exploredOnce...))
		worlds, err := o.worlds(cmd.Context(), args)
		switch {
		case err != nil:
			return err
		case len(o.merge) > 0:
			return o.join(cmd.Context(), worlds[0], wanted, cmd.OutOrStdout())
		}
		ctx, done := withBudget(cmd.Context(), o.budget)
		defer done()
		if len(worlds) == 1 && !o.quick {
			return o.exploreOne(ctx, worlds[0], wanted, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		return o.exploreAll(ctx, worlds, wanted, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// flags adds the flags that say what is explored, and those about how.
func (o *exploreOptions) flags(cmd *cobra.Command) {
	o.subjectFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.executions, "runs", 0, "maximum number of runs with the same faults (default: no limit)")
	f.DurationVar(&o.budget, "budget", 0, "time limit of the exploration; then what the runs so far show is printed (default: no limit)")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "choices of faults that are explored at a time")
	f.BoolVar(&o.quick, "quick", false, "explore the debate, or the scenarios: as many deviations as fit into a minute of work")
	f.StringVar(&o.state, "state", "", "file to keep how far the exploration has come, also during the work, and to continue from")
	f.Var(&o.shard, "shard", "make only this part of the runs, such as 2/4 (with --state, for --merge); auto/4: the part that a Slurm array or an Indexed Job of Kubernetes gives")
	f.StringSliceVar(&o.merge, "merge", nil, "print what the shards in these state files show together, and run nothing")
	cmd.MarkFlagsMutuallyExclusive("quick", "state", "merge")
	cmd.MarkFlagsMutuallyExclusive("quick", "shard")
}

// subjectFlags adds the flags that say what is explored and shown.
func (o *exploreOptions) subjectFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.properties, "property", nil, "judge only these properties, by name or code: lease,V4")
	f.IntVar(&o.bounds.Latencies, "latencies", explore.DefaultLatencies, "number of latencies that a message can have")
	f.IntVar(&o.bounds.Draws, "draws", explore.DefaultDraws, "number of values that can be drawn from a range beside a random one")
	f.IntVar(&o.bounds.Deviations, "deviations", explore.DefaultDeviations, "maximum number of points of a run at which another way is taken than the first; -1: no limit")
	f.IntVar(&o.bounds.Faults, "faults", everyFault, "maximum number of faults of the plan in a run; -1: all")
	f.DurationVar(&o.bounds.Tick, "tick", 0, "faults with a start in time begin at every multiple of this (default: when the plan says)")
	f.StringSliceVar(&o.kinds, "add", nil, "kinds of faults that a run can have beside those of the plan: "+textfmt.List(names(nemesis.FewKinds(), func(k nemesis.Kind) string { return string(k) })))
	f.IntVar(&o.bounds.Added, "added", 1, "maximum number of added faults in a run (with --add)")
	f.BoolVar(&o.full, "full", false, "explore a named scenario in its own world, not in its smallest")
	f.BoolVar(&o.json, "json", false, "print one JSON object, and nothing else")
}

// exploredWorld is a scenario to explore.
type exploredWorld struct {
	name     string // as on the command line
	scenario scenarios.Scenario
	part     scenarios.Part // of the named one that it is
}

// worlds finds the scenarios, and the smallest worlds of named ones.
func (o exploreOptions) worlds(ctx context.Context, args []string) (worlds []exploredWorld, err error) {
	for _, name := range args {
		s, err := o.lookup(name, func(s scenarios.Scenario) error {
			_, err := runner.Prepare(simulated.Backend(), s)
			return err
		})
		w := exploredWorld{name: name, scenario: s}
		if err == nil && !o.full {
			w, err = w.smallest(ctx)
		}
		if err != nil {
			return nil, err
		}
		worlds = append(worlds, w)
	}
	return worlds, nil
}

// smallest returns the smallest world of a named scenario. A file is explored as it is.
func (w exploredWorld) smallest(ctx context.Context) (_ exploredWorld, err error) {
	if isFile(w.name) {
		return w, nil
	}
	if w.part, err = explore.Smallest(ctx, w.scenario); err == nil {
		w.scenario, err = w.part.Of(w.scenario)
	}
	return w, err
}

// settle checks the flags and returns the properties to judge.
func (o *exploreOptions) settle(cmd *cobra.Command, args []string) ([]checker.Property, error) {
	switch {
	case len(args) == 0:
		return nil, scenarioName(cmd, args)
	case len(args) > 1 && (o.state != "" || len(o.merge) > 0):
		return nil, fmt.Errorf("--state and --merge are of one scenario, not of %d", len(args))
	case o.executions < 0:
		return nil, fmt.Errorf("--runs %d: want 0 or more", o.executions)
	case o.workers < 1:
		return nil, fmt.Errorf("--workers %d: want at least 1", o.workers)
	case o.bounds.Deviations < -1:
		return nil, fmt.Errorf("--deviations %d: want -1 or more", o.bounds.Deviations)
	case o.bounds.Faults < everyFault:
		return nil, fmt.Errorf("--faults %d: want -1 or more", o.bounds.Faults)
	}
	if err := checkBudget(cmd, o.budget); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("added") && len(o.kinds) == 0 {
		return nil, errors.New("--added needs --add")
	}
	for _, k := range o.kinds {
		o.bounds.Kinds = append(o.bounds.Kinds, nemesis.Kind(k))
	}
	if len(o.kinds) == 0 {
		o.bounds.Added = 0
	}
	if err := o.bounds.Known(); err != nil {
		return nil, fmt.Errorf("--add: %w", err)
	}
	if len(o.properties) == 0 {
		return checker.Properties(), nil
	}
	return findProperties("property", o.properties)
}

// exploreOne explores a scenario and prints what that shows.
func (o exploreOptions) exploreOne(ctx context.Context, w exploredWorld, wanted []checker.Property, out, problems io.Writer) error {
	shown, err := o.explore(ctx, w, wanted, problems)
	if err != nil {
		return err
	}
	return o.shard.made(shown.outcome.State.Complete, o.show(shown, out))
}

// show prints what an exploration has shown.
func (o exploreOptions) show(shown exploration, out io.Writer) (err error) {
	if o.json {
		err = writeJSON(out, shown.json())
	} else {
		shown.print(out)
	}
	if err != nil {
		return err
	}
	return exploredExit(shown)
}

// explore explores a scenario.
func (o exploreOptions) explore(ctx context.Context, w exploredWorld, wanted []checker.Property, problems io.Writer) (exploration, error) {
	line := terminal.NewBar(problems, w.scenario.Name, 0, terminal.Told)
	defer line.Done()
	began, bounds := time.Now(), o.bounds
	if bounds.Faults == everyFault {
		bounds.Faults = len(w.scenario.Plan)
	}
	limits, err := o.limits()
	if err != nil {
		return exploration{}, err
	}
	state := stateFile{path: o.state, problems: problems}
	defer state.close()
	if err := state.open(&limits); err != nil {
		return exploration{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	outcome, err := explore.Explore(ctx, w.scenario, bounds, limits, wanted, func(now explore.Outcome, current func() explore.State) {
		if err := state.keep(current); err != nil {
			stop(err)
		}
		if line.Due() {
			line.Say("")
			line.Left("%s runs, %s states, %s", textfmt.Grouped(now.Executions+now.Cut), textfmt.Grouped(now.States), doneOf(now))
		}
	})
	var wrong *explore.StateError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("--state: %s: %w", o.state, wrong.Err)
	}
	if err == nil {
		err = state.write(outcome.State)
	}
	x := exploration{outcome: outcome, bounds: bounds, world: w, took: time.Since(began), quick: o.quick, shard: o.shard.String(), given: o.given}
	if limits.Resume != nil && limits.Resume.Complete {
		x.from = o.state
	}
	return x, err
}
