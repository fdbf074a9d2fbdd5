//go:build !simulated

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// workOptions are the flags of work.
type workOptions struct {
	servers serverFlags
	only    string
	slots   int
	bucket  string
	once    bool
	metrics metricsFlag
}

// newWork returns the command, which people also find among those about campaigns.
func newWork(called string) *cobra.Command {
	var o workOptions
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Make shards of campaigns that your NATS servers keep",
		Long: `Make shards of the campaigns that your NATS servers keep, until Ctrl-C or SIGTERM: shards
that are being made may end then for ` + drainTime.String() + `, and the others are given back. Without
--campaign it works on all campaigns that this build can make, one after the other.

A campaign asks for the build of lockstorm with which it was started. Another build is
refused, because its results could differ. A campaign whose results are in a bucket is
refused unless --bucket names the same one.

Exit codes: 0 stopped, or with --once nothing left to do; 2 bad usage or input; 3 stopped
before --once had nothing left to do, so that a scheduler starts it again.`,
		Example: `  ` + called + ` --nats nats://ci:4222
  ` + called + ` --nats tls://ci:4222 --creds ci.creds --campaign sweep-0a1b2c3d --once`,
		Args: takes(0, 0),
	}
	f := cmd.Flags()
	o.servers.flags(f)
	f.StringVar(&o.only, "campaign", "", "work only on this campaign")
	f.IntVar(&o.slots, "workers", runtime.GOMAXPROCS(0), "processes that make shards")
	f.StringVar(&o.bucket, "bucket", "", "URL of the bucket in which a campaign may store results")
	o.metrics.flag(f)
	f.BoolVar(&o.once, "once", false, "end when no shard is queued")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.slots < 1 {
			return fmt.Errorf("--workers %d: want at least 1", o.slots)
		}
		build, err := thisBuild()
		if err == nil {
			err = o.metrics.check()
		}
		if err != nil {
			return err
		}
		e, err := o.servers.connect(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		defer func() { _ = e.Close() }() // nothing more is sent
		return o.work(cmd.Context(), e, build, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// work makes shards of all campaigns until ctx ends.
func (o *workOptions) work(ctx context.Context, e *campaign.Engine, build campaign.Build, out, problems io.Writer) error {
	w := thisWorker(build, o.slots, problems)
	var made atomic.Int64
	shown, err := o.metrics.serve(ctx)
	if err != nil {
		return err
	}
	w.Took = func(r campaign.Record) {
		made.Add(1)
		shown.Made(r)
	}
	refused := map[string]bool{}
	for ctx.Err() == nil {
		list := []string{o.only}
		var err error
		if o.only == "" {
			list, err = e.List(ctx)
		}
		before := made.Load()
		for _, name := range list {
			if err == nil && !refused[name] {
				err = o.workOn(ctx, e, w, name, refused, problems)
			}
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && o.only != "":
			return err
		case err != nil:
			w.Warn(err.Error())
		case o.once && made.Load() == before:
			_, err := fmt.Fprintf(out, "%s made; nothing is queued\n", textfmt.Count(int(made.Load()), "shard"))
			return err
		}
		if made.Load() == before {
			pause(ctx, pollEvery)
		}
	}
	if o.once {
		return verdictError(exitUndecided)
	}
	return nil
}

// workOn makes shards of a campaign. If this worker cannot, it says so once.
func (o *workOptions) workOn(ctx context.Context, e *campaign.Engine, w campaign.Worker, name string, refused map[string]bool, problems io.Writer) error {
	c, err := e.OpenRunning(ctx, name)
	if errors.Is(err, campaign.ErrStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what counts is stored
	if c.Spec.Bucket != o.bucket && c.Spec.Bucket != "" {
		err = fmt.Errorf("campaign %s: its results are in the bucket %s; allow it by --bucket", name, c.Spec.Bucket)
	} else {
		err = c.Work(ctx, w)
	}
	if err != nil && o.only == "" {
		refused[name] = true
		_, _ = fmt.Fprintln(problems, "lockstorm:", err)
		return nil
	}
	return err
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
