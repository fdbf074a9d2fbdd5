package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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
work, clients (3), capacity, think, extend, patience, workload, guard, persistence and
bounds; and server, the path of another redis-server, such as valkey-server.

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
	set.DurationVar(&o.budget, "budget", 5*time.Minute, "time limit; runs that do not fit in are not begun")
	set.Lookup("budget").DefValue = textfmt.Whole(o.budget)
	set.StringVar(&o.out, "out", "runs", "directory for the stored runs, one directory each")
	set.StringVar(&o.again, "again", "", "run only the run stored in this directory, with its plan and seed")
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	for _, f := range []string{"storm", "nodes", "ttl", "seed"} { // the stored run has them
		cmd.MarkFlagsMutuallyExclusive("again", f)
	}
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
		err = fmt.Errorf("--config: %s: %w", path, err)
		var all form.Mistakes
		_ = errors.As(err, &all)
		for _, m := range all {
			var unknown *form.UnknownField
			if errors.As(m, &unknown) && (unknown.Name == "nodes" || unknown.Name == "ttl") {
				err = fmt.Errorf("%w; %s is the flag --%[2]s", err, unknown.Name)
			}
		}
		return err
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
