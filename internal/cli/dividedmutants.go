//go:build !simulated

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/mutants"
	"github.com/lockstorm/lockstorm/internal/mutants/shards"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dividedMutants is the hunt of planted defects in shards: one shard for each defect, because its hunt ends
// when it is found, and several for a lock without one.
type dividedMutants struct {
	options  mutantOptions
	checkout mutants.Checkout
	chosen   []mutants.Mutant
	parts    []parts.Part // the unit is the number of the mutant among those chosen, the seed that of the run
	sum      string
}

// mutantRuns is the most runs of a mutant by default: as many as for the page of make mutants.
const mutantRuns = 50_000

// divideMutants returns the command mutants as campaigns divide it.
func divideMutants(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	d := &dividedMutants{}
	cmd := &cobra.Command{Use: "mutants [NUMBER…]"}
	d.options.subjectFlags(cmd, mutantRuns)
	return cmd, func(ctx context.Context, numbers []string) (divided, error) {
		if d.options.runs == 0 {
			return nil, errors.New("--runs 0: want at least 1")
		}
		var err error
		if d.checkout, d.chosen, err = d.options.settle(numbers); err != nil {
			return nil, err
		}
		for i, m := range d.chosen {
			runs := d.options.runsOf(m)
			size := runs
			if m.Number == "" {
				size = how.size
			}
			d.parts = append(d.parts, parts.Divide(i+1, 1, runs, size)...)
		}
		sources, err := d.checkout.Sum(ctx)
		if err != nil {
			return nil, err
		}
		d.sum, err = parts.Hash([]any{"mutants", sources, numbers, d.options.seed, d.parts})
		return d, err
	}
}

func (d *dividedMutants) Sum() string                      { return d.sum }
func (d *dividedMutants) Shards() int                      { return len(d.parts) }
func (*dividedMutants) Draws() int                         { return 0 }
func (*dividedMutants) Runs() int                          { return 0 } // a find ends a shard
func (*dividedMutants) file() (string, scenarios.Scenario) { return "", scenarios.Scenario{} }

// shard returns what a shard hunts.
func (d *dividedMutants) shard(i int) (mutants.Mutant, mutants.Effort) {
	p := d.parts[i]
	return d.chosen[p.Unit-1], mutants.Effort{Seed: d.options.seed, Before: int(p.First) - 1, Runs: p.Runs} //nolint:gosec // a number of runs
}

// Run implements [campaign.Job].
func (d *dividedMutants) Run(ctx context.Context, shard int, _ []campaign.Other) (r campaign.Result, err error) {
	m, effort := d.shard(shard)
	t, err := d.checkout.Try(ctx, m, effort, nil)
	if err == nil {
		err = ctx.Err() // what was stopped is no result
	}
	if err != nil {
		return r, fmt.Errorf("mutant %s: %w", cmp.Or(m.Number, unmutated), err)
	}
	if f := t.Caught(); f != nil {
		r.Find = fmt.Sprintf("mutant %s: %s in run %d", cmp.Or(m.Number, unmutated), foundBy(t), f.Run)
	}
	r.Data, err = shards.Seal(t.Report)
	return r, err
}

// mutantsFile is the name of the file for the results: a line for each mutant, and one for the score.
const mutantsFile = "mutants.jsonl"

func (d *dividedMutants) join(_ context.Context, read func(int) ([]byte, error), dir string, out, problems io.Writer) error {
	trials, err := d.joined(read, problems)
	if err != nil {
		return err
	}
	var s mutantScore
	for _, t := range trials {
		s.add(t)
	}
	if err := s.save(dir); err != nil {
		return err
	}
	if err := d.options.print(s, out); err != nil {
		return err
	}
	return s.verdict()
}

// joined returns a trial for each mutant.
func (d *dividedMutants) joined(read func(int) ([]byte, error), problems io.Writer) ([]mutants.Trial, error) {
	bar := terminal.NewBar(problems, "joining the shards", int64(len(d.parts)), terminal.Steps)
	defer bar.Done()
	trials := make([]mutants.Trial, len(d.chosen))
	for i, p := range d.parts {
		bar.Step()
		text, err := read(i)
		if err != nil {
			return nil, err
		}
		m, effort := d.shard(i)
		report, err := shards.Unseal(text, effort)
		if err != nil {
			return nil, fmt.Errorf("the result of shard %d: %w", i, err)
		}
		trials[p.Unit-1].Mutant = m
		shards.Join(&trials[p.Unit-1].Report, report)
	}
	return trials, nil
}

// save stores the trials and the score in a directory, unless its name is empty.
func (s *mutantScore) save(dir string) error {
	if dir == "" {
		return nil
	}
	var text []byte
	for _, t := range s.trials {
		line, err := json.Marshal(recordOf(t))
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	line, err := json.Marshal(map[string]*mutantScore{"score": s})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, mutantsFile), append(append(text, line...), '\n'))
}
