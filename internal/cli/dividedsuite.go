//go:build !simulated

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dividedSuite is a debate or a comparison in shards.
type dividedSuite struct {
	suite   suite
	subject subject
	save    string // the name of the file for its results
	refused []refusal
	all     parts.Suite
	parts   []parts.Part
	sum     string
}

// divideSuiteOf divides a suite, whose results are stored in a file of a name.
func divideSuiteOf(s suite, of subject, save string, size int) (divided, error) {
	s.sideBySide = 1 // shards are made side by side
	d := &dividedSuite{suite: s, subject: of, save: save}
	var err error
	if d.all, d.refused, err = s.divisible(); err != nil {
		return nil, err
	}
	d.parts = d.all.Parts(size)
	d.sum, err = parts.Hash([]any{save, d.all.Tasks, size})
	return d, err
}

func (d *dividedSuite) Sum() string { return d.sum }
func (*dividedSuite) Draws() int    { return 0 }
func (d *dividedSuite) Shards() int { return len(d.parts) }

func (*dividedSuite) file() (string, scenarios.Scenario) { return "", scenarios.Scenario{} }

func (d *dividedSuite) Runs() (n int) {
	for _, p := range d.parts {
		n += p.Runs
	}
	return n
}

// Run implements [campaign.Job].
func (d *dividedSuite) Run(ctx context.Context, shard int, _ []campaign.Other) (campaign.Result, error) {
	data, err := d.all.RunPart(ctx, d.parts[shard], nil)
	return campaign.Result{Data: data}, err
}

func (d *dividedSuite) join(_ context.Context, read func(int) ([]byte, error), dir string, out, problems io.Writer) error {
	bar := terminal.NewBar(problems, "joining the shards", int64(len(d.parts)), terminal.Steps)
	defer bar.Done()
	found, err := joinTallies(d.all, d.parts, func(i int) ([]byte, error) {
		bar.Step()
		return read(i)
	})
	bar.Done()
	if err != nil {
		return err
	}
	return d.suite.conclude(d.subject, location{dir: dir, file: d.save}, known{found: found, refused: d.refused}, out)
}

// divideDebate returns the command debate as campaigns divide it.
func divideDebate(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	o := &debateOptions{backend: backends[0].Backend}
	cmd := &cobra.Command{Use: "debate [ROW…]"}
	o.subjectFlags(cmd)
	return cmd, func(_ context.Context, rows []string) (divided, error) {
		d, err := choose(rows)
		if err == nil {
			err = o.settleSubject(cmd, rows)
		}
		if err != nil {
			return nil, err
		}
		d.show = o.show
		return divideSuiteOf(o.suite(d), &d, results.DebateFile, how.size)
	}
}

// divideCompare returns the command compare as campaigns divide it.
func divideCompare(how division) (*cobra.Command, func(context.Context, []string) (divided, error)) {
	o := &compareOptions{backend: backends[0].Backend}
	cmd := &cobra.Command{Use: "compare"}
	o.subjectFlags(cmd)
	return cmd, func(_ context.Context, args []string) (divided, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("unknown argument %q: choose locks by --locks", args[0])
		}
		c, err := o.subject()
		if err == nil {
			err = o.settle(cmd)
		}
		if err != nil {
			return nil, err
		}
		return divideSuiteOf(c.suite(o.backend, o.seed, o.runs), &c, results.CompareFile, how.size)
	}
}
