package main

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
		"hunt", h.Space.Name(), d.scenario, h.Wanted, o.assumed, h.Faults.String(), h.MaxFaults, h.Seed, h.Guidance, h.Depth, o.runs, size,
	})
	return err
}

func (d *dividedHunt) Sum() string                        { return d.division.Sum }
func (d *dividedHunt) Shards() int                        { return d.division.Shards() }
func (d *dividedHunt) Runs() int                          { return d.division.Runs }
func (d *dividedHunt) file() (string, scenarios.Scenario) { return d.path, d.scenario }

// Run implements [campaign.Job]: a shard that draws nothing from others.
func (d *dividedHunt) Run(ctx context.Context, shard int) (campaign.Result, error) {
	return d.runFrom(ctx, shard, nil)
}

// runFrom makes a shard that begins with entries of other shards: see [shards.Division.Run].
func (d *dividedHunt) runFrom(ctx context.Context, shard int, drawn []fuzz.Entry) (campaign.Result, error) {
	found, err := d.division.Run(ctx, shard, drawn)
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
	all, err := d.joined(read, problems)
	if err != nil {
		return err
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
func (d *dividedHunt) joined(read func(int) ([]byte, error), problems io.Writer) (shards.Summary, error) {
	bar := terminal.NewBar(problems, "joining the shards", int64(d.Shards()), terminal.Steps)
	defer bar.Done()
	return d.division.Join(func(shard int) ([]byte, error) {
		bar.Step()
		return read(shard)
	})
}
