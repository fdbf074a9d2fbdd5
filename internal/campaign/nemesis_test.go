package campaign_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
)

var (
	plans = flag.Int("plans", 1, "number of storms of TestCampaignInStorms")
	first = flag.Uint64("first", 1, "seed of the first")
	disks = flag.Bool("disks", false, "servers also lose power, and have full disks")

	stormTable = flag.String("table", "", "a file for a table of the storms")
)

// Law: whatever dies, a campaign ends with the same bytes as one process, once all faults are over. No find
// is lost, and no worker finds another result.
//
// A shard whose worker has died as often as a shard may fail is set aside, and said to be. Servers that all
// lose power forget the campaign, and that is said, too. The campaign is then started again.
func TestCampaignInStorms(t *testing.T) {
	lossy := *disks
	if err := disk.Available(); lossy && err != nil {
		t.Fatal(err)
	}
	rows := make([]string, *plans)
	t.Run("storms", func(t *testing.T) { // which returns when all have ended
		for i := range *plans {
			seed := *first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel() // most of a storm is waiting
				spec := spec("storm", stormShards)
				spec.Draws = drawsOf(seed)
				plan := drawFaults(seed, lossy)
				t.Log(planText(plan))
				end := stormOf(t, spec, plan, lossy)
				t.Logf("%+v", end)
				rows[i] = fmt.Sprintf("| %d | %s | %d | %d | %d |\n", seed, planText(plan), end.forgotten, end.aside, end.lost)
			})
		}
	})
	if *stormTable == "" {
		return
	}
	text := "| seed | faults | campaign forgotten | shards set aside | results lost |\n|---:|---|---:|---:|---:|\n" + strings.Join(rows, "")
	if err := os.WriteFile(*stormTable, []byte(text), 0o644); err != nil { //nolint:gosec // a page to read
		t.Error(err)
	}
}

// drawsOf returns from how many others the shards of a storm may draw: every second storm has such shards.
func drawsOf(seed uint64) int { return 2 * int(seed%2) }

// stormEnd says how often a campaign was set back until it ended.
type stormEnd struct {
	forgotten int // the servers did not know it any more
	aside     int // shards that failed too often
	lost      int // results that were there and are gone
}

// stormOf runs a campaign while a plan is carried out. Whenever the campaign ends incomplete it is started
// again.
func stormOf(t *testing.T, spec campaign.Spec, plan []stormFault, lossy bool) (end stormEnd) {
	t.Helper()
	s := startStorm(t, lossy)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // it is finished in half a minute
	defer cancel()
	e := connectInStorm(ctx, s.url(follower), stormServers)
	defer func() { _ = e.Close() }()
	c := submitInStorm(ctx, t, e, spec)
	follow := func() campaign.Progress {
		for {
			p, err := followInStorm(ctx, t, c)
			if err == nil {
				return p
			}
			t.Log(err)
			end.forgotten++
			c = submitInStorm(ctx, t, e, spec)
		}
	}
	over := make(chan error, 1)
	go func() { over <- s.carryOut(ctx, plan) }()
	p := follow()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	for round := 0; ; round++ {
		if round > 5 {
			t.Fatal("the campaign does not end")
		}
		if n := len(p.Aside); n > 0 {
			end.aside += n
			c = submitInStorm(ctx, t, e, spec)
		}
		p = follow() // what was done may have been lost since
		all, err := results(ctx, c)
		if errors.Is(err, campaign.ErrLost) {
			t.Logf("lost: %v", err)
			end.lost++
			continue
		}
		if len(p.Aside) > 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if all != counted(stormShards) {
			t.Errorf("results:\n%s", all)
		}
		break
	}
	if len(p.Conflicts) > 0 {
		t.Errorf("conflicts: %v", p.Conflicts)
	}
	if len(p.Finds) != findsOf(stormShards) {
		t.Errorf("%d finds of %d: %v", len(p.Finds), findsOf(stormShards), p.Finds)
	}
	return end
}

// submitInStorm submits a campaign, however long it takes.
func submitInStorm(ctx context.Context, t *testing.T, e *campaign.Engine, s campaign.Spec) *campaign.Campaign {
	t.Helper()
	for {
		c, err := e.Submit(ctx, s)
		if err == nil {
			return c
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// followInStorm follows a campaign to its end, however often the servers do not answer. The error is
// [campaign.ErrForgotten].
func followInStorm(ctx context.Context, t *testing.T, c *campaign.Campaign) (campaign.Progress, error) {
	t.Helper()
	for {
		p, err := c.Follow(ctx, func(campaign.Progress) {})
		if err == nil || errors.Is(err, campaign.ErrForgotten) {
			return p, err
		}
		if ctx.Err() != nil {
			again, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			t.Fatalf("%+v: %v; %s", p, err, c.Describe(again, build))
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// results returns all results of a campaign, in order.
func results(ctx context.Context, c *campaign.Campaign) (string, error) {
	var all strings.Builder
	for shard := range c.Spec.Shards {
		data, err := c.Result(ctx, build, shard)
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}
