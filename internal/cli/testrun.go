package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// testedRun is a run of a storm, judged.
type testedRun struct {
	stored
	external.Judgment
	did     external.Exercised
	storm   int // its number, from 0
	unused  []int
	unbegun bool // there was no time for it
}

// each makes all runs for which there is time, some at a time, and calls take for each in order. A lock
// that cannot be run ends all.
func (t *lockTest) each(ctx context.Context, take func(testedRun)) error {
	type job struct {
		storm int
		seed  uint64
	}
	var jobs []job
	for i, s := range t.storms {
		for _, seed := range s.seeds {
			jobs = append(jobs, job{i, seed})
		}
	}
	return runner.InOrder(ctx, t.jobs, len(jobs), func(ctx context.Context, i int) (testedRun, error) {
		j := jobs[i]
		r, err := t.settled(ctx, i, t.storms[j.storm].scenario, j.seed)
		r.storm = j.storm
		if err != nil {
			err = fmt.Errorf("storm %s, seed %d: %w", t.storms[j.storm].scenario.Name, j.seed, err)
		}
		return r, err
	}, take)
}

// maxTries is how often a run is made, if the machine is too slow for the plan.
const maxTries = 4

// settled is once, repeated with fewer runs at a time if the machine was too slow for the plan. Only the
// last run stays stored. number is that of the run.
func (t *lockTest) settled(ctx context.Context, number int, s scenarios.Scenario, seed uint64) (testedRun, error) {
	for tries := 1; ; tries++ {
		atATime := t.pace.begin(ctx, number)
		if tries == 1 && !t.fits(s) {
			t.pace.end(atATime, false)
			return testedRun{unbegun: true}, ctx.Err()
		}
		r, err := t.once(ctx, s, seed)
		slow := err == nil && (r.Slipped() || r.Slow)
		t.pace.end(atATime, slow)
		if !slow || r.Interrupted || tries == maxTries || !t.fits(s) {
			return r, err
		}
		if err := os.RemoveAll(r.dir); err != nil {
			return r, err
		}
	}
}

// once makes a run, stores it with what the programs have written to their standard error, and
// judges it.
func (t *lockTest) once(ctx context.Context, s scenarios.Scenario, seed uint64) (r testedRun, err error) {
	lock := t.Lock
	lock.Config.TTL = s.Lock.TTL // a storm may have another
	p := lock.NewRun(seed)
	defer p.Close()
	e, err := runner.PrepareExternal(t.backend, s, p.External())
	if err != nil {
		return r, err
	}
	keeper, err := results.NewKeeper(t.out, e.WithReader(r.did.Reader()), t.versions())
	if err != nil {
		return r, err
	}
	keeper = keeper.Judging(func(result runner.Result) *runner.Judged {
		seen := p.Seen()
		r.Judgment = external.Judge(result, seen, t.promises, external.KeysKnown(result))
		return r.Stored()
	})
	r.Result, r.dir, err = keeper.Run(ctx, seed)
	if err = cmp.Or(err, p.Err()); err != nil {
		return r, err
	}
	if p.ClockSet() {
		r.did.Clocks = 1
	}
	r.unused, r.did.Belated, r.did.SharedValue = p.Unused(), p.BelatedLosses(), p.SharedValue()
	return r, storeStderr(p, r.dir)
}

// commandVersion is the name under which a stored run has the command line of the program.
const commandVersion = "program"

// versions returns what a stored run was made with.
func (t *lockTest) versions() map[string]string {
	v := maps.Clone(versions(t.backend))
	v[commandVersion] = strings.Join(t.Command, " ")
	return v
}

// storeStderr stores what the programs of a run have written to their standard error.
func storeStderr(p *program.Run, dir string) error {
	for client, text := range p.Stderr() {
		if len(text) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("client-%d.stderr", client)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
