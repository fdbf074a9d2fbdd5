package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// testOptions are the flags of test.
type testOptions struct {
	config   external.Config
	server   string             // the path of redis-server; empty: the one in PATH
	promises []checker.Property // nil: those of a lock with its capabilities

	storms []string // names, or files; empty: all
	seed   uint64
	runs   int
	jobs   int           // the most runs at a time; 0: as many as the cores have room for
	budget time.Duration // 0: no limit
	out    string
	again  string // directory of a stored run
	format string

	given []string // the flags that were given and change a run that is repeated
}

// storedInRun are the flags of test whose values a stored run has, or that do not change a run.
var storedInRun = []string{"nodes", "ttl", "storm", "seed", "again", "runs", "parallel", "budget", "out", "format", colourFlag}

// drawnPlans is how many plans the storm drawn generates.
const drawnPlans = 5

func newTest() *cobra.Command {
	var o testOptions
	var promises []string
	var file string
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
happened later than planned is repeated up to three times, with fewer runs at a time. A
run for which there is no time in the budget is not begun, and listed. --config FILE sets
what is rarely set, with the meaning and the defaults of locktest.Config: name, rounds,
work, clients (3), think, extend, patience, workload, guard, persistence and bounds; and
server, the path of another redis-server, such as valkey-server.

Of the runs of a storm --out keeps the first, and the first that violates each property
or leaves it open. With --format json an object is printed for each run, one for each storm,
with its verdict and the reason, and one with what was tried of the lock.

A contradiction (exit code 1) is a promise that was violated. A program that breaks the
protocol, or ends by itself, is bad input.`,
		Example: `  lockstorm test --nodes 1 -- python3 client.py
  lockstorm test --nodes 5 --ttl 500ms --storm calm,holder-stands-still -- node client.js
  lockstorm test --again runs/calm-process-1 --runs 10 -- python3 client.py`,
		Args: takes(1, anyNumber),
	}
	set := cmd.Flags()
	set.SetInterspersed(false) // what follows the program belongs to it
	set.IntVar(&o.config.Nodes, "nodes", 1, "number of redis-servers that the lock uses; with more than it uses, faults hit the wrong ones")
	set.DurationVar(&o.config.TTL, "ttl", external.Config{}.Filled().TTL, "TTL of the lock, in whole milliseconds")
	set.StringVar(&file, "config", "", "YAML file with more of the configuration")
	set.StringSliceVar(&promises, "property", nil, "properties whose violation exits with 1 (default: V1, L1 and C; B and L3 if its keys are known; V2 if the lock tells losses; V4 if its grants have fences)")
	set.StringSliceVar(&o.storms, "storm", nil, "only these storms, by name, or from YAML files (default: all)")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the first run of each storm; later runs use the following numbers")
	set.IntVar(&o.runs, "runs", 1, "number of runs of each storm, or of the run of --again")
	set.IntVar(&o.jobs, "parallel", 0, "the most runs at a time; fewer if the machine is too slow (default: four for each core)")
	set.DurationVar(&o.budget, "budget", 2*time.Minute, "time limit; runs that do not fit in are not begun")
	set.Lookup("budget").DefValue = textfmt.Whole(o.budget)
	set.StringVar(&o.out, "out", "runs", "directory for the stored runs, one directory each")
	set.StringVar(&o.again, "again", "", "run only the run stored in this directory, with its plan and seed")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	cmd.MarkFlagsMutuallyExclusive("again", "storm")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := notNothing(cmd.Flags(), o.config); err != nil {
			return err
		}
		if o.promises, err = findProperties("property", promises); err != nil {
			return err
		}
		if err := o.load(file); err != nil {
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

// load reads the file of --config, if there is one.
func (o *testOptions) load(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	file := struct {
		external.Config `yaml:",inline"`

		Server string `yaml:"server,omitempty"`
	}{Config: o.config}
	if err := form.Load(text, "configuration", &file); err != nil {
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	o.config, o.server = file.Config, file.Server
	return nil
}

// notNothing returns an error for flags that were given without a value that means something: in the
// configuration it would mean the default.
func notNothing(set *pflag.FlagSet, c external.Config) error {
	switch {
	case set.Changed("nodes") && c.Nodes == 0:
		return errors.New("--nodes 0: want at least 1")
	case set.Changed("ttl") && c.TTL == 0:
		return errors.New("--ttl 0s: want more than 0")
	case isEmptyList(set, "storm"): // an empty variable of a script, maybe
		return errors.New("--storm: want at least one storm")
	}
	return nil
}

// lockTest is a lock and the runs that it is put through.
type lockTest struct {
	testOptions
	program.Lock
	backend runner.Backend
	storms  []stormRuns
	refused []string // why default storms are left out
	pace    *pace
	ends    time.Time // of the budget; zero: never
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
	if err := writableDir("--out", o.out); err != nil {
		return nil, err
	}
	t := &lockTest{testOptions: o, backend: processes(o.server)}
	t.backend.Dialable = true
	if t.config.Name == "" {
		t.config.Name = strings.Join(command, " ")
	}
	t.Command = command
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.jobs = cmp.Or(t.jobs, usualRunsPerCore*runtime.GOMAXPROCS(0))
	t.pace = newPace(t.jobs)
	for _, s := range t.storms {
		if _, err := runner.PrepareExternal(t.backend, s.scenario, t.External()); err != nil {
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
	t.config.Clocks = t.External().WallClock
	t.config = t.config.Filled()
	t.Config = t.config
	if err := inFlags(t.config.Validate()); err != nil {
		return err
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
	all, refused := t.config.Storms(t.backend.Ability, drawnPlans)
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
	var f *nemesis.FieldError
	if !errors.As(err, &f) {
		return err
	}
	if strings.HasPrefix(f.Path, "Storms") {
		return fmt.Errorf("--storm: %w", f.Err)
	}
	flag := strings.ToLower(f.Path)
	if !slices.Contains(storedInRun, flag) {
		return fmt.Errorf("--config: %s: %w", flag, f.Err)
	}
	return fmt.Errorf("--%s %w", flag, f.Err)
}

// run makes all runs, prints them, and returns the verdict.
func (t *lockTest) run(ctx context.Context, out, problems io.Writer) error {
	if t.budget > 0 {
		t.ends = time.Now().Add(t.budget)
	}
	p := newTestPrinter(t, out, problems)
	defer p.bar.Done()
	if err := t.each(ctx, p.add); err != nil {
		return err
	}
	p.finish(ctx.Err() != nil)
	return exitFor(p.conclusion())
}
