//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dividedSweep is a sweep in shards.
type dividedSweep struct {
	sweep    sweep.Measurement
	parts    []parts.Part
	sum      string
	path     string             // of the file with the scenario, or ""
	scenario scenarios.Scenario // in it
}

// divideSweep returns the command sweep as campaigns divide it.
func divideSweep(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	o := &sweepOptions{}
	var own scenarios.Scenario
	o.lookup = func(name string, check func(scenarios.Scenario) error) (s scenarios.Scenario, err error) {
		own, err = how.find(name, check)
		return own, err
	}
	cmd := &cobra.Command{Use: "sweep NAME|SCENARIO"}
	o.subjectFlags(cmd)
	return cmd, func(_ context.Context, args []string) (divided, error) {
		if len(args) != 1 {
			return nil, errors.New("want the NAME of one sweep, or a SCENARIO with --vary")
		}
		c, err := o.measurement(cmd, args[0], backends[0].Backend)
		if err != nil {
			return nil, err
		}
		subject, err := c.Subject()
		if err != nil {
			return nil, err
		}
		c.SideBySide = 1 // shards are made side by side
		s := &dividedSweep{sweep: c, parts: c.Parts(how.size)}
		if isFile(args[0]) {
			s.path, s.scenario = args[0], own
		}
		s.sum, err = parts.Hash([]any{subject, how.size})
		return s, err
	}
}

func (s *dividedSweep) Sum() string                        { return s.sum }
func (*dividedSweep) Draws() int                           { return 0 }
func (s *dividedSweep) Shards() int                        { return len(s.parts) }
func (s *dividedSweep) file() (string, scenarios.Scenario) { return s.path, s.scenario }

func (s *dividedSweep) Runs() (n int) {
	for _, p := range s.parts {
		n += s.sweep.PartWork(p)
	}
	return n
}

// Run implements [campaign.Job].
func (s *dividedSweep) Run(ctx context.Context, shard int, _ []campaign.Other) (campaign.Result, error) {
	data, err := s.sweep.RunPart(ctx, s.parts[shard], nil)
	return campaign.Result{Data: data}, err
}

func (s *dividedSweep) join(ctx context.Context, read func(int) ([]byte, error), dir string, out, problems io.Writer) error {
	head, err := s.sweep.Head(ctx)
	if err != nil {
		return err
	}
	found := sweep.Results{Head: head}
	bar := terminal.NewBar(problems, "joining the shards of "+head.Sweep, int64(head.Units()), terminal.Steps)
	defer bar.Done()
	err = s.sweep.Join(s.parts, read, func(o sweep.Outcome) error {
		found.Outcomes = append(found.Outcomes, o)
		bar.Step()
		return ctx.Err()
	})
	bar.Done()
	if err != nil {
		return err
	}
	o := sweepOptions{out: dir}
	if dir != "" {
		if err := found.Keep(dir); err != nil {
			return err
		}
		if err := saveSweep(dir, found); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return o.present(found, out)
}
