package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/terminal"
)

func newMerge() *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use:   "merge DIR…",
		Short: "Put the shards of a sweep together",
		Long: `Put the shards of a sweep together, which "lockstorm sweep --shard i/n --out DIR" has
made. Into the directory --out goes what one run of the whole sweep would have written
there, to the byte. Shards that are missing, not done, there twice, or of different
campaigns are named, and nothing is written.

Exit codes are those of sweep.`,
		Example: `  lockstorm merge runs/part1 runs/part2 --out runs/restart-delay`,
		Args:    cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&o.out, "out", "", "directory that gets the whole")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object and nothing else")
	o.report.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if o.out == "" {
			return errors.New("--out: name the directory that gets the whole")
		}
		if err := o.report.check("report"); err != nil {
			return err
		}
		bar := terminal.NewBar(cmd.ErrOrStderr(), "merging", 0, terminal.Steps)
		defer bar.Done()
		r, err := sweep.Merge(dirs)
		if err != nil {
			return err
		}
		if err := r.Keep(o.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		bar.Done()
		if err := saveSweep(o.out, r, cmd.ErrOrStderr()); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		return o.reported(cmd, r, o.present(r, cmd.OutOrStdout()))
	}
	return cmd
}
