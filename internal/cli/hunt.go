package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/spf13/cobra"
)

func newHunt() *cobra.Command {
	o := huntOptions{}
	cmd := &cobra.Command{
		Use:   "hunt [SCENARIO]",
		Short: "Search for runs that break a lock, shrink them and store them as cases",
		Long: `Search for runs that break a lock. Clients, worlds and fault plans are generated, run on
all cores and judged. With a SCENARIO (a name or a YAML file) its lock and world are kept;
otherwise they are generated for the lock that --lock names.

The hunt ends after --budget, after --runs runs, or when a violation of every hunted
property is found. The first violation of each property is shrunk, stored as a case in
--out, and printed with the commands that repeat it. A hunt with --runs and without
--budget is deterministic. Ctrl-C ends the search and shrinks what was found; a second
Ctrl-C skips the shrinking.

Shrinking takes at most a quarter of --budget, in addition to it, divided among the finds,
and at most 50 million simulated events for each find. A find whose shrinking was cut short
is stored as it is then, and says so.

Without --assume nothing is assumed, and each find is classified: a defect breaks a
promise of the lock within the assumptions of the promise; a limit does not. --assume
promised hunts defects only; --assume FILE hunts under assumptions of your own.

` + shardsHelp + `

A find is a contradiction (exit code 1). A hunt without a find is undecided if it was
stopped, or if no run could have violated the hunted properties.`,
		Example: `  lockstorm hunt
  lockstorm hunt --lock single-node --property V1,L1 --budget 10s
  lockstorm hunt --assume promised --budget 10m --format json
  lockstorm hunt crash-restart --faults crash,partition:3 --first
  lockstorm hunt --assume promised --runs 1000000 --shard 1/8 --out runs/hunt
  lockstorm hunt --assume promised --runs 1000000 --merge runs/hunt`,
		Args: takes(0, 1),
	}
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.settle(cmd, args); err != nil {
			return err
		}
		q, err := o.search(args)
		if err != nil {
			return err
		}
		return o.once(cmd, q)
	}
	return cmd
}

// flags declares the flags.
func (o *huntOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.lock, "lock", defaultLock, `kind of lock to hunt without a SCENARIO ("lockstorm list" names all)`)
	f.StringSliceVar(&o.properties, "property", nil, "hunt only these properties, by name or code: lease,V4")
	f.StringVar(&o.assumed, "assume", "", `assumptions: a file, or "`+promisedWord+`" for those under which the lock makes promises`)
	f.StringVar(&o.faults, "faults", string(nemesis.AllKinds), "kinds of faults with weights up to 9, such as crash,partition:3 or all,kill:0")
	f.IntVar(&o.most, "most", usualMost, "maximum number of faults in a run")
	f.DurationVar(&o.budget, "budget", 0, "time limit of the search (default 1m, unless --runs is set)")
	f.IntVar(&o.runs, "runs", 0, "maximum number of runs")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the hunt")
	f.BoolVar(&o.first, "first", false, "stop at the first find")
	f.StringVar(&o.out, "out", "cases", "directory for the cases, one for each find; empty: none is stored")
	parallelFlag(cmd, &o.parallel)
	formatFlag(cmd, &o.format, []string{asText, asJSON}, "")
	o.report.flag(cmd)
	o.shards.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("budget", "shard", "merge")
	cmd.MarkFlagsMutuallyExclusive("report", "shard")
}

// once hunts once and prints the finds.
func (o *huntOptions) once(cmd *cobra.Command, q search) error {
	ctx, problems := cmd.Context(), cmd.ErrOrStderr()
	log, err := o.log(cmd, q)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // records are written
	var h haul
	switch {
	case o.shards.one():
		if err := q.shard(ctx, log, problems); err != nil {
			return err
		}
		return o.shards.made(log, cmd.OutOrStdout())
	case log != nil:
		h, err = q.joined(ctx, log)
	default:
		h, err = q.watched(ctx, problems)
	}
	if err != nil {
		return err
	}
	finds, err := o.conclude(ctx, q, h, cmd.OutOrStdout(), problems)
	if err != nil {
		return err
	}
	return o.report.after(cmd, h.ended(q), "hunt of "+q.Space.Name(), func(ctx context.Context, r *report.Report) error {
		r.Lead = fmt.Sprintf("Ground: %s. %s (%s).", q.Space.Name(), textfmt.Sentence(h.headline()), h.figures(q.budget > 0))
		var kept []report.SavedCase
		for _, f := range finds {
			kept = append(kept, report.SavedCase{Case: cases.New(f.Small, f.Property), Path: f.path, Title: f.Property.Code(), Remark: f.standing(o.assumed) + "; " + f.shrunk()})
		}
		return r.Cases(ctx, kept)
	})
}

// conclude shrinks and stores the finds of a hunt, and prints what it has shown. An error is returned
// after everything that is known has been printed.
func (o *huntOptions) conclude(ctx context.Context, q search, h haul, out, problems io.Writer) ([]find, error) {
	finds, failed := o.take(ctx, q, h, problems)
	if o.format == asJSON {
		return finds, cmp.Or(json.NewEncoder(out).Encode(scoreOf(q, h, finds)), failed)
	}
	terminal.Fit(out)
	o.printHaul(out, q, h)
	for _, f := range finds {
		f.print(out, o.assumed)
	}
	printAdvice(out, o.assumed, finds)
	return finds, failed
}
