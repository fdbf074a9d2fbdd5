package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// testOptions are the flags of test.
type testOptions struct {
	config   external.Config
	on       string             // the backend
	promises []checker.Property // nil: those of a lock with its capabilities

	storms []string // names, or files; empty: all
	drawn  int
	draws  bool // drawn is set
	seed   uint64
	runs   int
	jobs   int
	out    string
	again  string // directory of a stored run
	json   bool

	given []string // the flags that were given and change a run that is repeated
}

// storedInRun are the flags of test whose values a stored run has, or that do not change a run.
var storedInRun = []string{
	"nodes", "clients", "ttl", "rounds", "work", "think", "extend", "workload", "guard", "persistence", "bound", "storm", "drawn", "seed",
	"again", "runs", "jobs", "out", "json", colourFlag,
}

func newTest() *cobra.Command {
	var o testOptions
	var promises []string
	var bounds map[string]string
	var guardMode, persistence string
	cmd := &cobra.Command{
		Use:   "test [flags] [--] PROGRAM [ARG...]",
		Short: "Test a lock in any language: a program that speaks lines of JSON",
		Long: `Test a lock in any language: a program that speaks lines of JSON.

Each client is a process of the PROGRAM. It reads calls of the lock (acquire, extend,
release) from its standard input and answers on its standard output, and locks on
redis-servers of this machine, at the addresses that it is given
(docs/other-languages.md). Meanwhile servers crash, links break, and clients are
paused (SIGSTOP) and killed (SIGKILL): these are the storms of package locktest, and
the promises that a lock is held to are the same.

Times of the storms are multiples of the TTL, in real time. A run in which things
happened later than planned is repeated up to three times.

Exit codes: 0 no promise was violated; 1 one was; 2 bad usage, or the program breaks
the protocol or ends by itself; 3 a promise is undecided in some storm.`,
		Example: `  lockstorm test --nodes 1 -- python3 client.py
  lockstorm test --nodes 5 --ttl 500ms --storm calm,holder-stands-still -- node client.js
  lockstorm test --again runs/calm-process-1 --runs 10 -- python3 client.py`,
		Args: takes(1, anyNumber),
	}
	set := cmd.Flags()
	set.SetInterspersed(false) // what follows the program belongs to it
	set.StringVar(&o.config.Name, "name", "", "name of the lock in stored runs (default: the program's command line)")
	set.IntVar(&o.config.Nodes, "nodes", 1, "number of redis-servers that the lock uses; with more than it uses, faults hit the wrong ones")
	set.IntVar(&o.config.Clients, "clients", 3, "number of clients, each a process")
	set.DurationVar(&o.config.TTL, "ttl", 2*time.Second, "TTL of the lock, in whole milliseconds")
	set.IntVar(&o.config.Rounds, "rounds", 40, "how often each client locks, works and releases")
	set.DurationVar(&o.config.Work, "work", 0, "how long a client works under the lock at most (default: a tenth of the TTL)")
	set.DurationVar(&o.config.Think, "think", 0, "how long a client waits between rounds at most (default: a fifth of the TTL)")
	set.DurationVar(&o.config.Extend, "extend", 0, "time between extensions during the work; 0: none")
	set.DurationVar(&o.config.Patience, "patience", 0, "time after which a call is cancelled (default: 5 TTL)")
	set.StringVar(&o.config.Workload, "workload", "section", "what a client does under the lock: section, checked, posted or hold")
	set.StringVar(&guardMode, "guard", string(guard.Plain), "what the guarded resource checks: plain or fenced")
	set.StringVar(&persistence, "persistence", string(nemesis.Nothing), "what a node keeps over a restart: none, aof-everysec or aof-always")
	set.StringSliceVar(&promises, "promise", nil, "properties whose violation exits with 1 (default: V1, L1 and C; V2 if the lock tells losses; V4 if its grants have fences)")
	set.StringToStringVar(&bounds, "bound", nil, "limits of C and L1, such as release=2s: acquire, extend and release, of a call (default: patience and 30s); grant, until somebody is granted a free lock after the faults (default: 5 TTL and 10s)")
	set.StringSliceVar(&o.storms, "storm", nil, "only these storms, by name, or from YAML files (default: all)")
	set.IntVar(&o.drawn, "drawn", 5, "number of generated plans in the storm drawn; 0: none; with --storm only if it is set")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the first run of each storm; later runs use the following numbers")
	set.IntVar(&o.runs, "runs", 1, "number of runs of each storm, or of the run of --again")
	set.IntVar(&o.jobs, "jobs", 2, "number of runs at a time")
	set.StringVar(&o.out, "out", "runs", "directory for the stored runs, one directory each")
	set.StringVar(&o.again, "again", "", "run only the run stored in this directory, with its plan and seed")
	set.StringVar(&o.on, "backend", "process", "where to run: process[:SERVER]")
	set.BoolVar(&o.json, "json", false, "print one JSON object per line for each run, and nothing else")
	cmd.MarkFlagsMutuallyExclusive("again", "storm")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		o.config.Guard, o.config.Persistence = guard.Mode(guardMode), nemesis.Persistence(persistence)
		if err := notNothing(cmd.Flags(), o.config); err != nil {
			return err
		}
		o.draws = cmd.Flags().Changed("drawn")
		if o.promises, err = findProperties("promise", promises); err != nil {
			return err
		}
		if o.config.Bounds, err = findBounds(bounds); err != nil {
			return err
		}
		o.given = givenWords(cmd.Flags(), but(storedInRun...))
		t, err := o.prepare(args)
		if err != nil {
			return err
		}
		return t.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// notNothing returns an error for flags that were given without a value that means something: in the
// configuration it would mean the default.
func notNothing(set *pflag.FlagSet, c external.Config) error {
	for _, n := range []struct {
		flag  string
		value int
	}{{"nodes", c.Nodes}, {"clients", c.Clients}, {"rounds", c.Rounds}} {
		if set.Changed(n.flag) && n.value == 0 {
			return fmt.Errorf("--%s 0: want at least 1", n.flag)
		}
	}
	switch {
	case set.Changed("ttl") && c.TTL == 0:
		return errors.New("--ttl 0s: want more than 0")
	case isEmptyList(set, "storm"): // an empty variable of a script, maybe
		return errors.New("--storm: want at least one storm")
	}
	return nil
}

// findBounds returns the bounds of --bound.
func findBounds(texts map[string]string) (b history.Bounds, err error) {
	fields := map[string]*time.Duration{"acquire": &b.Acquire, "extend": &b.Extend, "release": &b.Release, "grant": &b.Grant}
	for name, text := range texts {
		field, known := fields[name]
		if !known {
			return b, fmt.Errorf("--bound: unknown bound %q: want acquire, extend, release or grant", name)
		}
		if *field, err = parseDuration(text); err != nil {
			return b, fmt.Errorf("--bound %s: %w", name, err)
		}
	}
	return b, nil
}

// lockTest is a lock and the runs that it is put through.
type lockTest struct {
	testOptions
	program.Lock
	backend runner.Backend
	storms  []stormRuns
	refused []string // why default storms are left out
}

// stormRuns is the runs of a storm.
type stormRuns struct {
	scenario scenarios.Scenario
	seeds    []uint64
}

// prepare checks the options, and that each storm can be run.
func (o testOptions) prepare(command []string) (*lockTest, error) {
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		flag   string
		value  int
		lowest int
	}{{"runs", o.runs, 1}, {"jobs", o.jobs, 1}, {"drawn", o.drawn, 0}} {
		if n.value < n.lowest {
			return nil, fmt.Errorf("--%s %d: want at least %d", n.flag, n.value, n.lowest)
		}
	}
	if err := writableDir("--out", o.out); err != nil {
		return nil, err
	}
	kind, err := findBackend(o.on)
	if err == nil && kind.Name != "process" {
		err = fmt.Errorf("--backend %s: want process[:SERVER], where programs can lock", o.on)
	}
	if err != nil {
		return nil, err
	}
	t := &lockTest{testOptions: o, backend: kind.WithoutWatch()}
	t.backend.Dialable = true
	if t.config.Name == "" {
		t.config.Name = strings.Join(command, " ")
	}
	t.Command = command
	if err := t.choose(); err != nil {
		return nil, err
	}
	for _, s := range t.storms {
		if _, err := runner.PrepareExternal(t.backend, s.scenario, runner.External{Name: t.config.Name}); err != nil {
			return nil, fmt.Errorf("storm %s: %w", s.scenario.Name, err)
		}
	}
	return t, nil
}

// choose fills the configuration and chooses the runs.
func (t *lockTest) choose() error {
	if t.again != "" {
		stored, err := results.Load(t.again)
		if err != nil {
			return err
		}
		t.restore(stored)
	}
	t.config = t.config.Filled()
	t.Config = t.config
	if err := inFlags(t.config.Validate()); err != nil {
		return err
	}
	if slices.Contains(t.promises, checker.Cleanup) {
		return fmt.Errorf("--promise: %s cannot be judged, because nobody knows which keys are those of the lock", external.Named(checker.Cleanup))
	}
	if t.again != "" {
		return nil
	}
	list, err := t.selected()
	if err != nil {
		return err
	}
	for _, s := range list {
		runs := s.Runs
		if runs == 0 {
			runs = t.runs
		}
		t.add(t.config.Scenario(s), t.seed, runs)
	}
	return nil
}

// add adds runs of a scenario with a seed and those that follow. After the largest comes 0.
func (t *lockTest) add(s scenarios.Scenario, seed uint64, runs int) {
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = seed + uint64(i)
	}
	t.storms = append(t.storms, stormRuns{s, seeds})
}

// restore takes from a stored run what its plan was made for, and the run itself.
func (t *lockTest) restore(stored results.Run) {
	s := stored.Scenario.Scenario
	t.config.Nodes, t.config.Clients, t.config.TTL = s.Nodes, len(s.Clients), s.Lock.TTL
	t.config.Persistence, t.config.Guard = s.Persistence, s.Guard
	s.Lock.Kind = t.config.Name
	t.storms = []stormRuns{{s, slices.Repeat([]uint64{stored.Seed}, t.runs)}}
}

// selected returns the storms of --storm, or the default ones.
func (t *lockTest) selected() ([]scenarios.Storm, error) {
	all, refused := t.config.Storms(t.backend.Ability, t.drawn)
	if len(t.testOptions.storms) == 0 {
		t.refused = refused
		return all, nil
	}
	var list []scenarios.Storm
	for _, name := range t.testOptions.storms {
		if i := slices.IndexFunc(all, func(s scenarios.Storm) bool { return s.Name == name }); i >= 0 {
			list = append(list, all[i])
			continue
		}
		if !strings.HasSuffix(name, ".yaml") {
			return nil, fmt.Errorf("--storm: unknown storm %q: want a YAML file, or one of %s", name, stormNames(all))
		}
		s, err := scenarios.LoadStorm(name)
		if err != nil {
			return nil, fmt.Errorf("--storm: %w", err)
		}
		list = append(list, s)
	}
	if t.draws && t.drawn > 0 && !slices.ContainsFunc(list, func(s scenarios.Storm) bool { return s.Name == "drawn" }) {
		list = append(list, external.Drawn(t.drawn))
	}
	return list, inFlags(external.ValidateStorms(list))
}

func stormNames(list []scenarios.Storm) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// inFlags returns an error of a field of the configuration as one of its flag.
func inFlags(err error) error {
	var f *external.FieldError
	if !errors.As(err, &f) {
		return err
	}
	if strings.HasPrefix(f.Field, "Storms") {
		return fmt.Errorf("--storm: %w", f.Err)
	}
	return fmt.Errorf("--%s %w", strings.ToLower(f.Field), f.Err)
}

// run makes all runs, prints them, and returns the verdict.
func (t *lockTest) run(ctx context.Context, out, problems io.Writer) error {
	p := newTestPrinter(t, out, problems)
	defer p.done()
	if err := t.each(ctx, p.add); err != nil {
		return err
	}
	p.finish(ctx.Err() != nil)
	return exitFor(p.conclusion())
}
