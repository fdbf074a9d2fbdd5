package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	properties []string
	bounds     explore.Bounds
	executions int
	parallel   int // choices of faults that are explored at a time; 0: one per core
	budget     time.Duration
	kinds      []string
	more       map[string]string // --bounds
	out        string
	shards     shardOptions
	full       bool
	quick      bool
	format     string
	given      []string // the flags that were given and change what is explored
}

// exploredOnce are the flags of explore that do not change what is explored.
var exploredOnce = []string{"quick", "format", "budget", "parallel", "out", "shard", "merge", colourFlag}

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

A run chooses at each point: how long a message takes, which number a client, a node, the
store or a fault draws, how many of its latest changes a node loses with its power or its
master, and which of several events of one machine at the same instant comes first. It
takes another way than the first at --deviations points at most; -1 is no limit, and soon
too much. The runs with fewer deviations come first. --add lets a run have a fault more, of
these kinds and of any machine. Pauses, suspensions and deaths of a client also begin at
each of its steps. They last as long as a TTL; clocks jump by a TTL, forward or back, or run
a fifth too fast or too slow. Tokens follow from one seed. Requests do not share
connections. A fault comes before everything else of its instant.

--bounds changes the other bounds, as in latencies=3,tick=10ms:

  latencies   of a message, evenly spaced over the scenario's range (2)
  draws       values of a range that can be drawn beside a random one (2)
  faults      of the plan that a run can have (all)
  added       faults of --add that a run can have (1)
  tick        faults begin at any multiple of this time (those of the plan when that says,
              those of --add at any multiple of half of the TTL)

Runs that show nothing new are left out: other orders of simultaneous events of different
machines, and what follows a state that was seen before. "go doc ./internal/search/explore" says
why that is sound. Runs in which faults overlap on one target are left out and counted.
Ctrl-C stops, and so does the end of --budget; nothing is then said to hold.

--out stores what was made: a record of all runs with one choice of faults and up to a
number of deviations. The same command continues from there. These choices are what
--shard divides, so a scenario with few of them has few shards.
` + shardsHelp

const exploreExample = `  lockstorm explore delayed-restart
  lockstorm explore crash-restart --property V1 --format json
  lockstorm explore tiny.yaml --deviations 2 --bounds faults=1,tick=10ms
  lockstorm explore calm --add pause,clock-jump,clock-rate --deviations 0
  lockstorm explore crash-restart short-restart delayed-restart
  lockstorm explore quarantine --deviations 2 --out runs/quarantine
  lockstorm explore calm --add crash,pause --shard 1/2 --out runs/calm
  lockstorm explore calm --add crash,pause --merge runs/calm
  lockstorm explore --quick`

func newExplore() *cobra.Command {
	o := exploreOptions{}
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
		if err != nil {
			return err
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

// flags adds the flags.
func (o *exploreOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.executions, "runs", 0, "maximum number of runs with the same faults (default: no limit)")
	f.DurationVar(&o.budget, "budget", 0, "time limit of the exploration; then what the runs so far show is printed (default: no limit)")
	parallelFlag(cmd, &o.parallel)
	f.BoolVar(&o.quick, "quick", false, "explore the debate, or the scenarios: as many deviations as fit into a minute of work")
	f.StringVar(&o.out, "out", "", "directory to keep what was made, and to continue from (default: nothing is kept)")
	o.shards.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("out", "merge")
	for _, flag := range []string{"out", "shard", "merge"} {
		cmd.MarkFlagsMutuallyExclusive("quick", flag)
	}
	f.StringSliceVar(&o.properties, "property", nil, "judge only these properties, by name or code: lease,V4")
	f.IntVar(&o.bounds.Deviations, "deviations", explore.DefaultDeviations, "maximum number of points of a run at which another way is taken than the first; -1: no limit")
	f.StringToStringVar(&o.more, "bounds", nil, "other `bounds`: latencies, draws, faults, added, tick")
	f.StringSliceVar(&o.kinds, "add", nil, "kinds of faults that a run can have beside those of the plan: "+textfmt.List(names(nemesis.FewKinds(), func(k nemesis.Kind) string { return string(k) })))
	f.BoolVar(&o.full, "full", false, "explore a named scenario in its own world, not in its smallest")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
}

// worlds finds the scenarios, and the smallest worlds of named ones.
func (o exploreOptions) worlds(ctx context.Context, args []string) (worlds []exploredWorld, err error) {
	for _, name := range args {
		s, err := findAnd(name, func(s scenarios.Scenario) error {
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
	if w.part, err = explore.SmallestPart(ctx, w.scenario); err == nil {
		w.scenario, err = w.part.Of(w.scenario)
	}
	return w, err
}

// settle checks the flags and returns the properties to judge.
func (o *exploreOptions) settle(cmd *cobra.Command, args []string) ([]checker.Property, error) {
	switch {
	case len(args) == 0:
		return nil, scenarioName(cmd, args)
	case len(args) > 1 && (o.out != "" || o.shards.one() || len(o.shards.merge) > 0):
		return nil, fmt.Errorf("--out, --shard and --merge are of one scenario, not of %d", len(args))
	case o.bounds.Deviations < -1:
		return nil, fmt.Errorf("--deviations %d: want -1 or more", o.bounds.Deviations)
	}
	if err := o.setBounds(); err != nil {
		return nil, fmt.Errorf("--bounds: %w", err)
	}
	for _, k := range o.kinds {
		o.bounds.Kinds = append(o.bounds.Kinds, nemesis.Kind(k))
	}
	if err := o.bounds.Known(); err != nil {
		return nil, fmt.Errorf("--add: %w", err)
	}
	if len(o.properties) == 0 {
		return checker.Properties(), nil
	}
	return findProperties("property", o.properties)
}

// setBounds sets the bounds of --bounds, and the defaults of the others.
func (o *exploreOptions) setBounds() error {
	b := &o.bounds
	b.Latencies, b.Draws, b.Faults, b.Added = explore.DefaultLatencies, explore.DefaultDraws, everyFault, min(len(o.kinds), 1)
	numbers := map[string]*int{"latencies": &b.Latencies, "draws": &b.Draws, "faults": &b.Faults, "added": &b.Added}
	for name, text := range o.more {
		var err error
		if number, is := numbers[name]; is {
			if *number, err = strconv.Atoi(text); err != nil || *number < 0 {
				return fmt.Errorf("%s=%s: want a whole number from 0", name, text)
			}
		} else if name != "tick" {
			return &textfmt.UnknownError{What: "bound", Name: name, Known: append(slices.Sorted(maps.Keys(numbers)), "tick")}
		} else if b.Tick, err = parseDuration(text); err != nil {
			return fmt.Errorf("tick=%w", err)
		}
	}
	if o.more["added"] != "" && len(o.kinds) == 0 {
		return errors.New("added needs --add")
	}
	return nil
}

// exploreOne explores a scenario and prints what that shows.
func (o exploreOptions) exploreOne(ctx context.Context, w exploredWorld, wanted []checker.Property, out, problems io.Writer) error {
	log, err := o.log(w, wanted)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // records are written
	shown, err := o.explore(ctx, w, wanted, log, problems)
	switch {
	case err != nil:
		return err
	case o.shards.one():
		return o.shards.made(log, out)
	case o.format == asJSON:
		err = writeJSON(out, shown.json())
	default:
		shown.print(out)
	}
	return cmp.Or(err, exploredExit(shown))
}

// exploreWork is what identifies an exploration in its records.
type exploreWork struct {
	Scenario   scenarios.Scenario `json:"scenario"`
	Bounds     explore.Bounds     `json:"bounds"`
	Properties []checker.Property `json:"properties"`
	Runs       int                `json:"runs"` // see [explore.Limits]
}

// log returns the records of the exploration.
func (o exploreOptions) log(w exploredWorld, wanted []checker.Property) (*shard.Log, error) {
	bounds := o.boundsOf(w)
	if err := bounds.Validate(); err != nil {
		return nil, err
	}
	return o.shards.log("explore", o.out, exploreWork{w.scenario, bounds, wanted, o.executions})
}

// boundsOf returns the bounds of the exploration of a world.
func (o exploreOptions) boundsOf(w exploredWorld) explore.Bounds {
	bounds := o.bounds
	if bounds.Faults == everyFault {
		bounds.Faults = len(w.scenario.Plan)
	}
	return bounds
}

// explore explores a scenario.
func (o exploreOptions) explore(ctx context.Context, w exploredWorld, wanted []checker.Property, log *shard.Log, problems io.Writer) (exploration, error) {
	line := terminal.NewBar(problems, w.scenario.Name, 0, terminal.Told)
	defer line.Done()
	began, bounds := time.Now(), o.boundsOf(w)
	limits := explore.Limits{Executions: o.executions, Workers: cmp.Or(o.parallel, runtime.GOMAXPROCS(0)), Log: log}
	if o.quick {
		limits.Events = quickEvents
	}
	outcome, err := explore.Explore(ctx, w.scenario, bounds, limits, wanted, func(now explore.Outcome) {
		if line.Due() {
			line.Say("")
			line.Left("%s runs, %s states, %s", textfmt.Grouped(now.Executions+now.Cut), textfmt.Grouped(now.States), doneOf(now))
		}
	})
	return exploration{outcome: outcome, bounds: bounds, world: w, took: time.Since(began), quick: o.quick, given: o.given}, err
}

// exploreAll explores scenarios one after the other and prints a table. When ctx ends, it prints what
// is there.
func (o exploreOptions) exploreAll(ctx context.Context, worlds []exploredWorld, wanted []checker.Property, out, problems io.Writer) error {
	var all []exploration
	bar := terminal.NewBar(problems, "explore", int64(len(worlds)), terminal.Pieces)
	defer bar.Done()
	for i, w := range worlds {
		ctx, done := shareOf(ctx, len(worlds)-i)
		x, err := o.explore(ctx, w, wanted, nil, io.Discard)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, x)
		bar.Step()
	}
	bar.Done()
	if o.format == asJSON {
		var j explorationsJSON
		for _, x := range all {
			j.Explorations = append(j.Explorations, x.json())
		}
		if err := writeJSON(out, j); err != nil {
			return err
		}
	} else {
		printExplorations(out, all)
	}
	return exploredExit(all...)
}
