//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// campaignStatus is how a campaign stands.
type campaignStatus struct {
	Name     string   `json:"name"`
	Command  []string `json:"command"`
	State    string   `json:"state"` // running, stopped or complete
	Shards   int      `json:"shards"`
	Done     int      `json:"done"`
	Failures int      `json:"failures"`
	Aside    []string `json:"set_aside,omitempty"`
	Finds    []string `json:"finds,omitempty"`
	Conflict []string `json:"conflicts,omitempty"`
}

// serverStatus is how all campaigns of the servers stand, and who works there.
type serverStatus struct {
	Campaigns []campaignStatus    `json:"campaigns"`
	Workers   []campaign.Presence `json:"workers"`
}

func newCampaignStatus() *cobra.Command {
	var servers serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status [NAME…]",
		Short:   "Show how the campaigns on your NATS servers stand",
		Example: `  lockstorm campaign status --nats nats://ci:4222`,
		RunE: func(cmd *cobra.Command, names []string) error {
			e, err := servers.connect(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { _ = e.Close() }() // nothing was sent
			if len(names) == 0 {
				if names, err = e.List(cmd.Context()); err != nil {
					return err
				}
			}
			list := []campaignStatus{}
			for _, name := range names {
				s, err := statusOf(cmd.Context(), e, name)
				if err != nil {
					return err
				}
				list = append(list, s)
			}
			workers, err := e.Workers(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), serverStatus{list, append([]campaign.Presence{}, workers...)})
			}
			printStatus(cmd.OutOrStdout(), list)
			printWorkers(cmd.OutOrStdout(), workers)
			return nil
		},
	}
	servers.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, and nothing else")
	return cmd
}

func statusOf(ctx context.Context, e *campaign.Engine, name string) (s campaignStatus, err error) {
	state := "running"
	c, err := e.OpenRunning(ctx, name)
	if errors.Is(err, campaign.ErrStopped) {
		state = "stopped"
		c, err = e.Open(ctx, name)
	}
	if err != nil {
		return s, err
	}
	defer func() { _ = c.Close() }() // it was only read
	p, err := c.Progress(ctx)
	if err != nil {
		return s, err
	}
	if p.Done == p.Shards {
		state = "complete"
	}
	s = campaignStatus{Name: name, Command: c.Spec.Command, State: state, Shards: p.Shards, Done: p.Done, Failures: p.Failures}
	for _, a := range p.Aside {
		s.Aside = append(s.Aside, a.String())
	}
	for _, f := range p.Finds {
		s.Finds = append(s.Finds, fmt.Sprintf("shard %d: %s", f.Shard, f.Text))
	}
	for _, x := range p.Conflicts {
		s.Conflict = append(s.Conflict, x.String())
	}
	return s, nil
}

func printStatus(out io.Writer, list []campaignStatus) {
	terminal.Fit(out)
	if len(list) == 0 {
		_, _ = fmt.Fprintln(out, "There are no campaigns.")
		return
	}
	t := &textfmt.Table{Head: []string{"campaign", "", "shards", "failed attempts", "set aside", "command"}}
	for _, s := range list {
		t.Add(s.Name, s.State, fmt.Sprintf("%d/%d", s.Done, s.Shards), fmt.Sprint(s.Failures), fmt.Sprint(len(s.Aside)), strings.Join(s.Command, " "))
	}
	printTable(out, t)
	for _, s := range list {
		for _, what := range [][]string{s.Finds, s.Aside, s.Conflict} {
			for _, line := range what {
				_, _ = fmt.Fprintf(out, "\n%s: %s\n", s.Name, line)
			}
		}
	}
}

func printWorkers(out io.Writer, list []campaign.Presence) {
	if len(list) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	t := &textfmt.Table{Head: []string{"worker", "build", "campaign", "processes", "shards made"}}
	for _, w := range list {
		t.Add(w.Worker, w.Build, w.Campaign, fmt.Sprint(w.Slots), fmt.Sprint(w.Made))
	}
	printTable(out, t)
}

func newCampaignMerge() *cobra.Command {
	var servers serverFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "merge NAME",
		Short: "Put the results of a campaign together, which your NATS servers keep",
		Long: `Put the results of a campaign together. The directory --out gets the same bytes as one
process would have written. If shards are missing, nothing is written.

Exit codes are those of the campaign's command; 3 if shards are missing.`,
		Example: `  lockstorm campaign merge --nats nats://ci:4222 sweep-0a1b2c3d --out runs/delay`,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := writableDir("--out", dir); err != nil {
				return err
			}
			e, c, err := servers.existing(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { _ = errors.Join(c.Close(), e.Close()) }() // it was only read
			return mergeCampaign(cmd.Context(), c, dir, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	servers.flags(cmd.Flags())
	cmd.Flags().StringVar(&dir, "out", "", "directory for the results (default: they are only printed)")
	return cmd
}

// mergeCampaign puts the results of a campaign together.
func mergeCampaign(ctx context.Context, c *campaign.Campaign, dir string, out, problems io.Writer) error {
	build, err := thisBuild()
	if err != nil {
		return err
	}
	if !c.Spec.Has(build) {
		return fmt.Errorf("campaign %s: this is build %s, and it was made by %s", c.Spec.Name, build, c.Spec.Builds[0])
	}
	p, err := c.Progress(ctx)
	if err != nil {
		return err
	}
	if n := p.Left(); n > 0 {
		_, _ = fmt.Fprintf(problems, "lockstorm: campaign %s: %d of %s are missing\n", c.Spec.Name, n, textfmt.Count(p.Shards, "shard"))
		return verdictError(exitUndecided)
	}
	work, err := openSpec(ctx, c.Spec)
	if err != nil {
		return err
	}
	return conclude(ctx, c, p, work, dir, out, problems)
}

func newCampaignStop() *cobra.Command {
	var servers serverFlags
	var remove bool
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "Stop a campaign on your NATS servers: workers leave it, and its results stay",
		Example: `  lockstorm campaign stop --nats nats://ci:4222 sweep-0a1b2c3d
  lockstorm campaign stop --nats nats://ci:4222 sweep-0a1b2c3d --remove`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := servers.connect(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { _ = e.Close() }() // the servers have replied
			if remove {
				return e.Remove(cmd.Context(), args[0])
			}
			return e.Stop(cmd.Context(), args[0])
		},
	}
	servers.flags(cmd.Flags())
	cmd.Flags().BoolVar(&remove, "remove", false, "also remove it with its results from the servers")
	return cmd
}
