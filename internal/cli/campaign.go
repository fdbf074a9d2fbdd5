//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/campaign/metrics"
)

func newCampaign() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Spread a sweep, a debate, an exploration or a hunt over processes and machines",
		Long: `Spread a command over processes and machines: its runs are divided into shards, which
workers make, and which are put together to the same bytes as one process would have
written, whatever dies on the way.

Without --nats all is done by processes of this machine. With --nats the campaign is kept
by your NATS servers (with JetStream), and "lockstorm work --nats URL" is all that
another machine needs.`,
		Example: `  lockstorm campaign start --out runs/delay sweep restart-delay --runs 1000000
  lockstorm campaign start --nats nats://ci:4222 --out runs/delay sweep restart-delay
  lockstorm work --nats nats://ci:4222
  lockstorm campaign status --nats nats://ci:4222`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCampaignStart(), newCampaignStatus(), newWork("lockstorm campaign work"), newCampaignMerge(), newCampaignStop(), newCampaignManifest(), newCampaignShards())
	return cmd
}

// serverFlags are the flags about the servers of campaigns.
type serverFlags struct{ campaign.Servers }

func (s *serverFlags) flags(set *pflag.FlagSet) {
	set.StringVar(&s.URL, "nats", "", "URL of your NATS servers, such as nats://host:4222 or tls://host:4222; several are separated by commas")
	set.StringVar(&s.Creds, "creds", "", "file with NATS credentials")
	set.StringVar(&s.CA, "tls-ca", "", "file with the certificates that sign those of the servers (default: the system's)")
	set.StringVar(&s.Cert, "tls-cert", "", "file with the certificate of this client")
	set.StringVar(&s.Key, "tls-key", "", "file with the key of that certificate")
}

// connect connects to the servers.
func (s *serverFlags) connect(ctx context.Context, problems io.Writer) (*campaign.Engine, error) {
	if s.URL == "" {
		for name, value := range map[string]string{"creds": s.Creds, "tls-ca": s.CA, "tls-cert": s.Cert, "tls-key": s.Key} {
			if value != "" {
				return nil, fmt.Errorf("--%s needs --nats", name)
			}
		}
		return nil, errors.New("--nats: want the URL of your NATS servers, such as nats://host:4222")
	}
	s.Warn = func(text string) { _, _ = fmt.Fprintln(problems, "lockstorm:", text) }
	e, err := campaign.Connect(ctx, s.Servers)
	if err != nil {
		err = fmt.Errorf("--nats: %w", err)
	}
	return e, err
}

// existing connects to the servers and opens the campaign of a name.
func (s *serverFlags) existing(ctx context.Context, name string, problems io.Writer) (*campaign.Engine, *campaign.Campaign, error) {
	e, err := s.connect(ctx, problems)
	if err != nil {
		return nil, nil, err
	}
	c, err := e.Open(ctx, name)
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, c, nil
}

// metricsFlag is the flag for the address of the metrics.
type metricsFlag struct{ addr string }

func (m *metricsFlag) flag(set *pflag.FlagSet) {
	set.StringVar(&m.addr, "metrics", "", "serve metrics for Prometheus at http://ADDRESS/metrics, such as 127.0.0.1:9464 (default: not at all)")
}

// check checks the flag.
func (m *metricsFlag) check() error {
	if m.addr == "" {
		return nil
	}
	if err := metrics.ValidateAddr(m.addr); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	return nil
}

// serve serves the metrics until ctx ends, if that is asked for; otherwise it returns nil.
func (m *metricsFlag) serve(ctx context.Context) (*metrics.Server, error) {
	if m.addr == "" {
		return nil, nil
	}
	s, err := metrics.Listen(ctx, m.addr)
	if err != nil {
		err = fmt.Errorf("--metrics: %w", err)
	}
	return s, err
}

// workerName names this process among those of all machines.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// newCampaignShards returns the command of the processes that make shards.
func newCampaignShards() *cobra.Command {
	return &cobra.Command{
		Use:     "shards",
		Short:   "Make shards for the process that has started this one",
		Example: "  lockstorm campaign shards",
		Hidden:  true,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Ctrl-C and the end of a Slurm job reach all processes at once. The worker lets shards end.
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			return campaign.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), openJob)
		},
	}
}

// openJob makes the work of a campaign in a process of its own.
func openJob(ctx context.Context, s campaign.Spec) (campaign.Job, error) { return openSpec(ctx, s) }

// openSpec makes the work of a campaign.
func openSpec(ctx context.Context, s campaign.Spec) (divided, error) {
	return openDivided(ctx, s.Command, division{s.Size, broughtAlong(s.Files)})
}

// startRunner starts a process of this program that makes shards.
func startRunner(ctx context.Context, s campaign.Spec) (campaign.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return campaign.StartProcess(ctx, exec.Command(self, "campaign", "shards"), s)
}

// drainTime is how long shards may take to their end after Ctrl-C or SIGTERM.
const drainTime = 20 * time.Second
