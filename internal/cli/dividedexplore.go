//go:build !simulated

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dividedExploration is an exploration in shards.
type dividedExploration struct {
	options exploreOptions
	world   exploredWorld
	wanted  []checker.Property
	shards  int
	sum     string
}

// defaultParts is the number of shards of an exploration. Nobody knows before how many runs it has.
const defaultParts = 16

// divideExplore returns the command explore as campaigns divide it: into a number of shards, whatever
// the size of others is.
func divideExplore(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	d := &dividedExploration{options: exploreOptions{workers: 1, lookup: how.find}}
	cmd := &cobra.Command{Use: "explore SCENARIO"}
	d.options.subjectFlags(cmd)
	cmd.Flags().IntVar(&d.shards, "shards", defaultParts, "number of shards")
	return cmd, func(ctx context.Context, args []string) (divided, error) {
		switch {
		case len(args) != 1:
			return nil, errors.New("want one SCENARIO")
		case d.shards < 1 || d.shards > maxShards:
			return nil, fmt.Errorf("--shards %d: want 1 to %d", d.shards, maxShards)
		}
		var err error
		if d.wanted, err = d.options.settle(cmd, args); err != nil {
			return nil, err
		}
		worlds, err := d.options.worlds(ctx, args)
		if err != nil {
			return nil, err
		}
		d.world = worlds[0]
		d.sum, err = parts.Hash([]any{d.world.scenario, d.world.part, d.options.bounds, d.options.executions, d.wanted, d.shards})
		return d, err
	}
}

func (d *dividedExploration) Sum() string { return d.sum }
func (*dividedExploration) Draws() int    { return 0 }
func (d *dividedExploration) Shards() int { return d.shards }
func (*dividedExploration) Runs() int     { return 0 }

func (d *dividedExploration) file() (string, scenarios.Scenario) {
	if isFile(d.world.name) {
		return d.world.name, d.world.scenario
	}
	return "", scenarios.Scenario{}
}

// Run implements [campaign.Job].
func (d *dividedExploration) Run(ctx context.Context, shard int, _ []campaign.Other) (campaign.Result, error) {
	o := d.options
	o.shard = shardFlag{Shard: sweep.Shard{I: shard + 1, Of: d.shards}}
	shown, err := o.explore(ctx, d.world, d.wanted, io.Discard)
	if err == nil {
		err = ctx.Err() // what was stopped is no result
	}
	if err != nil {
		return campaign.Result{}, err
	}
	r := campaign.Result{}
	if f := shown.outcome.Find(); f != nil {
		r.Find = shown.outcome.Violations()
	}
	r.Data, err = json.Marshal(shown.outcome.State)
	return r, err
}

// explorationFile is the name of the file with what all shards show together.
const explorationFile = "exploration.json"

func (d *dividedExploration) join(ctx context.Context, read func(int) ([]byte, error), dir string, out, _ io.Writer) error {
	states := make([]explore.State, d.shards)
	for i := range states {
		text, err := read(i)
		if err == nil {
			err = json.Unmarshal(text, &states[i])
		}
		if err != nil {
			return err
		}
	}
	outcome, bounds, err := explore.Join(ctx, d.world.scenario, d.wanted, states, "") // the campaign has one build
	if err != nil {
		return err
	}
	shown := exploration{outcome: outcome, bounds: bounds, world: d.world}
	if dir != "" {
		text, err := json.MarshalIndent(shown.json(), "", "  ")
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = files.WriteWhole(filepath.Join(dir, explorationFile), append(text, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return d.options.show(shown, out)
}
