//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/manifest"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// manifestOptions are the flags of campaign manifest.
type manifestOptions struct {
	slurm, kubernetes, compose bool

	servers serverFlags
	text    manifest.Manifest
}

// The defaults of manifests.
const (
	manifestTime   = 24 * time.Hour
	manifestMemory = 2048 // MiB for each worker
)

func newCampaignManifest() *cobra.Command {
	var o manifestOptions
	cmd := &cobra.Command{
		Use:   "manifest [COMMAND…]",
		Short: "Write what Slurm, Kubernetes or compose needs to start workers",
		Long: `Write what a scheduler needs to start workers: a script for sbatch, an Indexed Job of
Kubernetes, or a compose file. It is printed, and nothing is started.

With --nats each machine runs "lockstorm work --once" for a campaign, which "lockstorm
campaign start --detach" has queued. Without --nats each machine makes one part of
COMMAND, a sweep or an exploration, in a directory that all share; one more command puts
the parts together.

Slurm and compose read credentials from the files that --creds and the flags --tls-…
name. Kubernetes reads them from the keys creds, tls-ca, tls-cert and tls-key of the
Secret --secret.

The page docs/clusters.md has a guide for each scheduler.`,
		Example: `  lockstorm campaign manifest --slurm --machines 8 --nats nats://ci:4222 --creds ci.creds >delay.sh
  lockstorm campaign manifest --kubernetes --machines 8 --image ci/lockstorm --nats nats://ci:4222
  lockstorm campaign manifest --slurm --machines 8 --out runs/drift sweep drift >drift.sh`,
	}
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		return o.print(cmd.Context(), words, cmd.OutOrStdout())
	}
	return cmd
}

func (o *manifestOptions) flags(cmd *cobra.Command) {
	f, m := cmd.Flags(), &o.text
	f.SetInterspersed(false)
	f.BoolVar(&o.slurm, "slurm", false, "write a script for sbatch")
	f.BoolVar(&o.kubernetes, "kubernetes", false, "write an Indexed Job (Kubernetes 1.29 or later)")
	f.BoolVar(&o.compose, "compose", false, "write a compose file")
	cmd.MarkFlagsMutuallyExclusive("slurm", "kubernetes", "compose")
	cmd.MarkFlagsOneRequired("slurm", "kubernetes", "compose")
	o.servers.flags(f)
	f.StringVar(&m.Campaign, "campaign", "", "with --nats: work only on this campaign")
	f.StringVar(&m.Name, "name", "", "name of the job (default: that of the campaign, or lockstorm)")
	f.IntVar(&m.Machines, "machines", 0, fmt.Sprintf("number of machines, pods or containers, up to %d", manifest.MaxMachines))
	f.IntVar(&m.Workers, "workers", 1, "processes on each machine that make shards; each gets a CPU")
	f.DurationVar(&m.Time, "time", manifestTime, "time that a machine may take; not with --compose")
	f.IntVar(&m.Memory, "memory", 0, fmt.Sprintf("memory of a machine, in MiB (default: %d for each worker)", manifestMemory))
	f.StringVar(&m.Binary, "binary", "lockstorm", "the program, or its path, on the machines or in the image")
	f.StringVar(&m.Image, "image", "", "image of the containers")
	f.StringVar(&m.Secret, "secret", "lockstorm", "with --kubernetes: Secret with the credentials")
	f.StringVar(&m.Out, "out", "", "without --nats: directory for the parts and the result, which all machines share")
	f.StringVar(&m.Claim, "claim", "", "without --nats, with --kubernetes: PersistentVolumeClaim for the parts and the result")
}

// check checks which flags there are; what they say is checked when the text is made.
func (o *manifestOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	nats := o.servers.URL != ""
	for _, c := range []struct {
		flag  string
		needs string
		met   bool
	}{
		{"creds", "--nats", nats}, {"tls-ca", "--nats", nats}, {"tls-cert", "--nats", nats}, {"tls-key", "--nats", nats},
		{"campaign", "--nats", nats},
		{"image", "--kubernetes or --compose", !o.slurm},
		{"secret", "--kubernetes", o.kubernetes},
		{"claim", "--kubernetes, and no --nats", o.kubernetes && !nats},
		{"out", "--slurm or --compose, and no --nats", !o.kubernetes && !nats},
		{"time", "--slurm or --kubernetes", !o.compose},
	} {
		if given(c.flag) && !c.met {
			return fmt.Errorf("--%s needs %s", c.flag, c.needs)
		}
	}
	m := o.text
	switch {
	case m.Machines < 1:
		return fmt.Errorf("--machines %d: want the number of machines", m.Machines)
	case m.Workers < 1:
		return fmt.Errorf("--workers %d: want at least 1", m.Workers)
	case given("memory") && m.Memory < 1:
		return fmt.Errorf("--memory %d: want at least 1 MiB", m.Memory)
	case !o.slurm && m.Image == "":
		return errors.New("--image: want an image with lockstorm")
	}
	return nil
}

// print prints the manifest of a command line.
func (o *manifestOptions) print(ctx context.Context, words []string, out io.Writer) error {
	m := o.text
	m.Servers, m.Command = o.servers.Servers, words
	if m.Name == "" {
		m.Name = "lockstorm"
		if m.Campaign != "" {
			m.Name = m.Campaign
		}
	}
	if m.Memory == 0 {
		m.Memory = manifestMemory * m.Workers
	}
	if len(words) > 0 && m.Servers.URL == "" {
		if err := checkDivisible(ctx, words); err != nil {
			return err
		}
	}
	write := m.Slurm
	switch {
	case o.kubernetes:
		write = m.Kubernetes
	case o.compose:
		write = m.Compose
	}
	text, err := write()
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

// checkDivisible returns an error for a command line that no machine can make a part of, or whose flags
// are not about what is done.
func checkDivisible(ctx context.Context, words []string) error {
	check, known := map[string]func(context.Context, []string) error{"sweep": checkSweepWords, "explore": checkExploreWords}[words[0]]
	if !known {
		return &textfmt.UnknownError{What: "command that can be divided without --nats", Name: words[0], Known: manifest.DivisibleCommands}
	}
	if err := check(ctx, words[1:]); err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

func checkSweepWords(_ context.Context, words []string) error {
	o := sweepOptions{lookup: findAnd}
	cmd := &cobra.Command{Use: "sweep"}
	o.subjectFlags(cmd)
	name, err := oneSubject(cmd, words)
	if err == nil {
		_, err = o.measurement(cmd, name, backends[0].Backend)
	}
	return err
}

func checkExploreWords(ctx context.Context, words []string) error {
	o := exploreOptions{lookup: findAnd, workers: 1}
	cmd := &cobra.Command{Use: "explore"}
	o.subjectFlags(cmd)
	name, err := oneSubject(cmd, words)
	if err == nil {
		_, err = o.settle(cmd, []string{name})
	}
	if err == nil {
		_, err = o.worlds(ctx, []string{name})
	}
	return err
}

// oneSubject parses the flags of a command that is divided, and returns the one argument.
func oneSubject(cmd *cobra.Command, words []string) (string, error) {
	cmd.Flags().BoolP("help", "h", false, "") // no request for help, but a word that parts do not have
	if err := cmd.ParseFlags(words); err != nil {
		return "", fmt.Errorf("%w; flags of the manifest come before the command", err)
	}
	if n := cmd.Flags().NArg(); n != 1 || cmd.Flags().Changed("help") {
		return "", fmt.Errorf("want the name of one sweep or scenario, got %s", textfmt.Count(n, "argument"))
	}
	return cmd.Flags().Arg(0), nil
}
