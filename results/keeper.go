package results

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Keeper runs an experiment and stores each run in a directory of its own. Its runs
// may be parallel.
type Keeper struct {
	parent     string
	experiment runner.Experiment
	scenario   scenarios.Encoded // what all runs have done; none where each has drawn a plan
	versions   map[string]string
	judge      func(runner.Result) *runner.Judged // nil: nothing is promised
}

// NewKeeper returns a keeper that stores runs under parent, with the versions of the programs
// involved.
func NewKeeper(parent string, e runner.Experiment, versions map[string]string) (Keeper, error) {
	k := Keeper{parent: parent, experiment: e, versions: versions}
	if e.Scenario().Generate != nil {
		return k, nil
	}
	var err error
	k.scenario, err = e.Scenario().Encoded()
	return k, err
}

// Judging returns the keeper that stores with each run what judge returns of it.
func (k Keeper) Judging(judge func(runner.Result) *runner.Judged) Keeper {
	k.judge = judge
	return k
}

// Run runs one seed and returns the directory of the stored run.
func (k Keeper) Run(ctx context.Context, seed uint64) (r runner.Result, dir string, err error) {
	h := k.experiment.Header(seed)
	d, err := Create(k.parent, fmt.Sprintf("%s-%s-%d", h.Scenario, h.Backend, seed), h)
	if err != nil {
		return r, "", err
	}
	sink := d.LiveHistory()
	if k.experiment.Backend().Exact {
		sink = d.History()
	}
	if r, err = k.experiment.Run(ctx, seed, sink); err != nil {
		return r, "", errors.Join(err, d.Discard())
	}
	run := RunOf(r, k.versions)
	if r.Scenario.Generate == nil {
		run.Scenario = k.scenario
	}
	if k.judge != nil {
		run.Judged = k.judge(r)
	}
	return r, d.Path(), d.Finish(run)
}
