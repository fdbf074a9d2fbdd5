//go:build !simulated

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/metrics"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// startOptions are the flags of campaign start.
type startOptions struct {
	servers serverFlags
	name    string
	out     string
	size    int
	workers int
	builds  int
	bucket  string
	detach  bool
	limits  campaign.Limits
	memory  int // MiB
	metrics metricsFlag
}

// defaultSize is how many runs a shard has by default: seconds of work.
const defaultSize = 10_000

func newCampaignStart() *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:   "start COMMAND…",
		Short: "Start a campaign, or go on with it, and put its results together",
		Long: `Start a campaign, follow it to its end, and put its results together. COMMAND is a
command with the flags that say what is done: sweep, debate, compare, explore, hunt or
mutants. Flags of the campaign come before it.

The same command goes on with a campaign that was interrupted, and tries shards again that
were set aside. Without --nats the directory of --out, with the ending .campaign, keeps
what is done; it is removed when the results are complete. With --nats workers on other
machines can take part, and the servers keep the results until "lockstorm campaign stop
--remove".

Ctrl-C lets shards end for ` + drainTime.String() + `, and gives back the others.

Exit codes are those of COMMAND; 1 also if two workers, or two builds, have found
different results of a shard; 3 if shards were set aside.`,
		Example: `  lockstorm campaign start --out runs/delay sweep restart-delay --runs 1000000
  lockstorm campaign start --nats nats://ci:4222 --workers 0 --out runs/drift sweep drift`,
		Args: takes(1, anyNumber),
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	o.servers.flags(f)
	f.IntVar(&o.servers.Replicas, "replicas", 0, "with --nats: how often the servers store everything (default: 3 in a cluster, otherwise 1)")
	f.StringVar(&o.name, "name", "", "name of the campaign (default: made of the command, so that the same command goes on with it)")
	f.StringVar(&o.out, "out", "", "directory for the results; with --nats it may be left out, and they are only printed")
	f.IntVar(&o.size, "shard-runs", defaultSize, "most runs of a shard")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "processes on this machine that make shards; with --nats also 0")
	f.StringVar(&o.bucket, "bucket", "", "with --nats: URL of a bucket for the results of shards, such as s3://results or file:///srv/results (default: the servers keep them)")
	f.IntVar(&o.builds, "builds", 1, "with --nats: number of different builds of lockstorm that make all shards, to be compared; the others join by \"lockstorm work\"")
	f.BoolVar(&o.detach, "detach", false, "with --nats: queue the shards, and leave them to workers elsewhere; \"lockstorm campaign merge\" gets the results")
	f.DurationVar(&o.limits.Time, "limit-time", campaign.DefaultLimits.Time, "time that a shard may take")
	f.IntVar(&o.memory, "limit-memory", int(campaign.DefaultLimits.Memory>>20), "memory that the process of a shard may have, in MiB")
	o.metrics.flag(f)
	f.IntVar(&o.limits.Attempts, "attempts", campaign.DefaultLimits.Attempts, "failed attempts after which a shard is set aside")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		return o.start(cmd.Context(), words, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// check checks the flags.
func (o *startOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	local := o.servers.URL == ""
	for _, flag := range []string{"creds", "tls-ca", "tls-cert", "tls-key", "replicas", "bucket", "builds", "detach"} {
		if local && given(flag) {
			return fmt.Errorf("--%s needs --nats", flag)
		}
	}
	switch {
	case o.workers < 0 || local && o.workers == 0:
		return fmt.Errorf("--workers %d: want at least 1; with --nats at least 0", o.workers)
	case local && o.out == "":
		return errors.New("--out: want a directory for the results; what is done until then is kept beside it")
	case o.size < 1:
		return fmt.Errorf("--shard-runs %d: want at least 1", o.size)
	case o.memory < 1 || o.memory > 1<<20:
		return fmt.Errorf("--limit-memory %d: want 1 to %d MiB", o.memory, 1<<20)
	case o.detach && o.out != "":
		return errors.New("--detach leaves the results on the servers: --out is of \"lockstorm campaign merge\"")
	}
	o.limits.Memory = int64(o.memory) << 20
	if err := o.metrics.check(); err != nil {
		return err
	}
	return writableDir("--out", o.out)
}

// start starts the campaign.
func (o *startOptions) start(ctx context.Context, words []string, out, problems io.Writer) error {
	work, err := openDivided(ctx, words, division{o.size, findAnd})
	if err != nil {
		return err
	}
	spec, err := o.spec(words, work)
	if err != nil {
		return err
	}
	engine, remove, err := o.engine(ctx, spec, problems)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }() // what counts is stored
	c, err := engine.Submit(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // likewise
	if o.detach {
		return o.leave(ctx, c, out)
	}
	progress, verdict, err := o.finish(ctx, engine, c, work, out, problems)
	if err != nil {
		return err
	}
	if isVerdict(verdict) && len(progress.Aside)+len(progress.Conflicts) == 0 {
		if err := errors.Join(engine.Close(), remove()); err != nil {
			return err
		}
	}
	return verdict
}

// maxLosses is how often the servers may lose results before the campaign gives up.
const maxLosses = 5

// finish follows the campaign to its end and puts the results together. Results that the servers, or a
// bucket, have lost are made again.
func (o *startOptions) finish(ctx context.Context, e *campaign.Engine, c *campaign.Campaign, work divided, out, problems io.Writer) (p campaign.Progress, verdict, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	shown, err := o.metrics.serve(ctx)
	if err != nil {
		return p, nil, err
	}
	var lost error
	for range maxLosses {
		p, err = o.follow(ctx, c, shown, problems)
		if err == nil {
			verdict = conclude(ctx, c, p, work, o.out, out, problems)
			if lost = verdict; !errors.Is(lost, campaign.ErrLost) {
				return p, verdict, nil
			}
			_, _ = fmt.Fprintf(problems, "lockstorm: %v; making it again\n", lost)
			continue
		}
		if lost = err; !errors.Is(lost, campaign.ErrForgotten) {
			return p, nil, err
		}
		_, _ = fmt.Fprintf(problems, "lockstorm: %v; starting it again\n", lost)
		if err := submitAgain(ctx, e, c.Spec); err != nil {
			return p, nil, err
		}
	}
	return p, nil, lost
}

// submitAgain submits a campaign that the servers have lost.
func submitAgain(ctx context.Context, e *campaign.Engine, s campaign.Spec) error {
	c, err := e.Submit(ctx, s)
	if err != nil {
		return err
	}
	return c.Close()
}

// spec describes the campaign.
func (o *startOptions) spec(words []string, work divided) (campaign.Spec, error) {
	build, err := thisBuild()
	if err != nil {
		return campaign.Spec{}, err
	}
	s := campaign.Spec{
		Name: o.name, Command: slices.Clone(words), Sum: work.Sum(), Size: o.size, Shards: work.Shards(), Runs: work.Runs(), Draws: work.Draws(),
		Want: o.builds, Builds: []campaign.Build{build}, Bucket: o.bucket, Limits: o.limits,
	}
	if path, scenario := work.file(); path != "" {
		var text bytes.Buffer
		if err := scenario.Print(&text); err != nil {
			return s, err
		}
		base := filepath.Base(path)
		s.Files = map[string][]byte{base: text.Bytes()}
		s.Command[slices.Index(s.Command, path)] = base
	}
	if s.Name == "" {
		s.Name = fmt.Sprintf("%s-%s", words[0], work.Sum()[:8])
	}
	return s, s.Validate()
}

// engine returns the engine, and a function that removes what it has kept on this machine.
func (o *startOptions) engine(ctx context.Context, s campaign.Spec, problems io.Writer) (*campaign.Engine, func() error, error) {
	if o.servers.URL != "" {
		e, err := o.servers.connect(ctx, problems)
		return e, func() error { return nil }, err
	}
	dir := filepath.Clean(o.out) + ".campaign"
	e, err := campaign.Embedded(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	if others, err := e.List(ctx); err == nil && len(others) > 0 && !slices.Contains(others, s.Name) {
		return nil, nil, errors.Join(fmt.Errorf("%s has the campaign %s, which does something else; remove it, or choose another --out", dir, others[0]), e.Close())
	}
	return e, func() error { return os.RemoveAll(dir) }, nil
}

// leave queues all shards.
func (o *startOptions) leave(ctx context.Context, c *campaign.Campaign, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if _, err := c.Follow(ctx, func(campaign.Progress) { stop() }); err != nil && ctx.Err() == nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: %s are queued\n", c.Spec.Name, textfmt.Count(c.Spec.Shards, "shard"))
	return err
}

// follow follows the campaign to its end, while workers of this machine make shards.
func (o *startOptions) follow(ctx context.Context, c *campaign.Campaign, shown *metrics.Server, problems io.Writer) (campaign.Progress, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	worked := make(chan error, 1)
	go func() {
		err := o.work(ctx, c, shown, problems)
		if err != nil {
			stop(nil)
		}
		worked <- err
	}()
	bar := terminal.NewBar(problems, "campaign "+c.Spec.Name, int64(c.Spec.Shards), terminal.Pieces)
	progress, err := c.Follow(ctx, func(p campaign.Progress) {
		shown.Progress(p)
		showProgress(bar, p)
	})
	if err == nil {
		stop(campaign.ErrComplete)
	}
	stop(nil)
	bar.Done()
	return progress, errors.Join(<-worked, err)
}

// showProgress shows how far a campaign has come.
func showProgress(bar *terminal.Bar, p campaign.Progress) {
	bar.At(p.Done, p.Shards)
	var more []string
	if n := len(p.Finds); n > 0 {
		more = append(more, fmt.Sprintf("%s, last: %s", textfmt.Count(n, "find"), p.Finds[n-1].Text))
	}
	if p.Failures > 0 {
		more = append(more, textfmt.Count(p.Failures, "failed attempt"))
	}
	if len(p.Aside) > 0 {
		more = append(more, fmt.Sprintf("%s set aside", textfmt.Count(len(p.Aside), "shard")))
	}
	bar.Say("%s", strings.Join(append([]string{""}, more...), "; "))
}

// work makes shards until ctx ends.
func (o *startOptions) work(ctx context.Context, c *campaign.Campaign, shown *metrics.Server, problems io.Writer) error {
	w := thisWorker(c.Spec.Builds[0], o.workers, problems)
	w.Took = shown.Made
	if o.workers == 0 {
		return nil
	}
	for ctx.Err() == nil {
		if err := c.Work(ctx, w); err != nil {
			return err
		}
		pause(ctx, pollEvery/10) // the queue is empty, or the servers have lost it
	}
	return nil
}

// thisWorker returns this process as a worker.
func thisWorker(b campaign.Build, slots int, problems io.Writer) campaign.Worker {
	return campaign.Worker{
		Name: workerName(), Build: b, Slots: slots, Grace: drainTime, Start: startRunner,
		Warn: func(text string) { _, _ = fmt.Fprintln(problems, "lockstorm:", text) },
	}
}

// conclude puts the results of a campaign together, unless shards are missing, and prints what went wrong.
func conclude(ctx context.Context, c *campaign.Campaign, p campaign.Progress, work divided, dir string, out, problems io.Writer) error {
	for _, a := range p.Aside {
		_, _ = fmt.Fprintf(problems, "lockstorm: campaign %s: %s\n", c.Spec.Name, a)
		if n := len(a.Failures); n > 0 && a.Failures[n-1].Log != "" {
			_, _ = fmt.Fprintf(problems, "%s\n", strings.TrimRight(a.Failures[n-1].Log, "\n"))
		}
	}
	if n := len(p.Aside); n > 0 {
		_, _ = fmt.Fprintf(problems, "lockstorm: %d of %s are missing; the same command tries them again\n", n, textfmt.Count(p.Shards, "shard"))
		return verdictError(exitUndecided)
	}
	read := func(shard int) ([]byte, error) { return c.Result(ctx, c.Spec.Builds[0], shard) }
	err := work.join(ctx, read, dir, out, problems)
	for _, x := range p.Conflicts {
		_, _ = fmt.Fprintf(problems, "lockstorm: campaign %s: the same build has found two results: %s\n", c.Spec.Name, c.Explain(ctx, x))
	}
	if n := len(p.Differing); n > 0 {
		_, _ = fmt.Fprintf(problems, "lockstorm: campaign %s: the builds have found different results in %d of %s: %s\n", c.Spec.Name, n, textfmt.Count(c.Spec.Shards, "shard"), someNumbers(p.Differing))
	}
	if len(p.Conflicts)+len(p.Differing) > 0 && isVerdict(err) {
		return verdictError(exitContradiction)
	}
	return err
}

// someNumbers lists the first of some numbers.
func someNumbers(all []int) string {
	const most = 10
	var list []string
	for _, n := range all[:min(len(all), most)] {
		list = append(list, fmt.Sprint(n))
	}
	if len(all) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// pollEvery is how often a worker without a shard looks for campaigns.
const pollEvery = 2 * time.Second
