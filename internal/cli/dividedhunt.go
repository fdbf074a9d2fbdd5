//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shards"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dividedHunt is a hunt in shards.
type dividedHunt struct {
	options  huntOptions
	search   search
	division shards.Division
	draws    int
	path     string             // of the file with the scenario, or ""
	scenario scenarios.Scenario // around which is hunted; the zero value: around none
}

// divideHunt returns the command hunt as campaigns divide it.
func divideHunt(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	d := &dividedHunt{}
	d.options.lookup = func(name string, check func(scenarios.Scenario) error) (s scenarios.Scenario, err error) {
		d.scenario, err = how.find(name, check)
		return d.scenario, err
	}
	cmd := &cobra.Command{Use: "hunt [SCENARIO]"}
	d.options.subjectFlags(cmd)
	cmd.Flags().IntVar(&d.draws, "draw-from", 0, "other shards from which a shard may draw runs that came close; then what is found depends on which were done before")
	return cmd, func(_ context.Context, args []string) (divided, error) {
		if err := d.open(cmd, args, how.size); err != nil {
			return nil, err
		}
		return d, nil
	}
}

// open checks the flags and divides the hunt into shards of at most size runs.
func (d *dividedHunt) open(cmd *cobra.Command, args []string, size int) error {
	o := &d.options
	if err := o.settleSubject(cmd, args); err != nil {
		return err
	}
	switch {
	case len(args) > 1:
		return fmt.Errorf("%d scenarios: want one", len(args))
	case d.draws < 0 || d.draws > campaign.MaxDraws:
		return fmt.Errorf("--draw-from %d: want 0 to %d", d.draws, campaign.MaxDraws)
	case d.draws > 0 && o.guidance != string(fuzz.Full):
		return fmt.Errorf("--draw-from: a hunt with --guidance %s keeps no runs that came close", o.guidance)
	case o.runs == 0:
		return errors.New("--runs: want the number of runs of the whole hunt")
	case o.assumed != "" && o.assumed != promisedWord:
		// A worker must not read files of its machine because a campaign names them.
		return fmt.Errorf("--assume %s: want %q; a campaign brings no file of assumptions along", o.assumed, promisedWord)
	}
	var err error
	if d.search, err = o.search(args); err != nil {
		return err
	}
	if len(args) == 1 && isFile(args[0]) {
		d.path = args[0]
	}
	h := d.search.Hunt
	h.SideBySide = 1 // shards are made side by side
	d.division = shards.Division{Hunt: h, Runs: o.runs, Size: size, Enough: d.search.enough}
	d.division.Sum, err = parts.Hash([]any{
		"hunt", h.Space.Name(), d.scenario, h.Wanted, o.assumed, h.Faults.String(), h.MaxFaults, h.Seed, h.Guidance, h.Depth, o.runs, size, d.draws,
	})
	return err
}

func (d *dividedHunt) Sum() string                        { return d.division.Sum }
func (d *dividedHunt) Shards() int                        { return d.division.Shards() }
func (d *dividedHunt) Draws() int                         { return d.draws }
func (d *dividedHunt) Runs() int                          { return d.division.Runs }
func (d *dividedHunt) file() (string, scenarios.Scenario) { return d.path, d.scenario }

// Run implements [campaign.Job].
func (d *dividedHunt) Run(ctx context.Context, shard int, others []campaign.Other) (campaign.Result, error) {
	var pool shards.Pool
	for _, other := range others {
		r, err := d.division.Unseal(other.Shard, other.Data)
		if err != nil {
			return campaign.Result{}, fmt.Errorf("the result of shard %d: %w", other.Shard, err)
		}
		pool.Add(r.Offers...)
	}
	found, err := d.division.Run(ctx, shard, pool.Draw(d.division, shard))
	if err != nil {
		return campaign.Result{}, err
	}
	r := campaign.Result{Find: findLine(found.Summary)}
	r.Data, err = found.Seal()
	return r, err
}

// findLine says in a few words what a shard has found; empty: nothing.
func findLine(s shards.Summary) string {
	var parts []string
	for _, p := range checker.Properties() {
		if f, found := s.First(p); found {
			parts = append(parts, fmt.Sprintf("%s in run %d", p.Code(), f.Run))
		}
	}
	return strings.Join(parts, ", ")
}

func (d *dividedHunt) join(ctx context.Context, read func(int) ([]byte, error), dir string, out, problems io.Writer) error {
	all, torn, err := d.joined(read, problems)
	if err != nil {
		return err
	}
	if len(torn) > 0 {
		_, _ = fmt.Fprintf(problems, "lockstorm: these shards cannot be repeated, because others from which they drew were lost and made again: %s; what they found can be replayed\n", someNumbers(torn))
	}
	results, err := all.Results(ctx, d.search.Backend)
	if err != nil {
		return err
	}
	o, h := d.options, haul{Results: results}
	o.out = dir
	if _, err := o.conclude(ctx, d.search, h, out, problems); err != nil {
		return err
	}
	return h.ended(d.search)
}

// joined joins the results of all shards.
func (d *dividedHunt) joined(read func(int) ([]byte, error), problems io.Writer) (all shards.Summary, torn []int, err error) {
	bar := terminal.NewBar(problems, "joining the shards", int64(d.Shards()), terminal.Steps)
	defer bar.Done()
	return d.division.Join(func(shard int) ([]byte, error) {
		bar.Step()
		return read(shard)
	})
}
