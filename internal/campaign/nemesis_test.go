package campaign_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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
	for i := range *plans {
		seed := *first + uint64(i)
		plan := drawFaults(seed, lossy)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel() // most of a storm is waiting
			t.Log(planText(plan))
			again := stormOf(t, plan, lossy)
			t.Logf("started again %d times", again)
		})
	}
}

// stormOf runs a campaign while a plan is carried out. It returns how often the campaign was started again.
func stormOf(t *testing.T, plan []stormFault, lossy bool) (again int) {
	t.Helper()
	s := startStorm(t, lossy)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // it is finished in half a minute
	defer cancel()
	e := connectInStorm(ctx, s.url(follower))
	defer func() { _ = e.Close() }()
	spec := spec("storm", stormShards)
	c := submitInStorm(ctx, t, e, spec)
	follow := func() campaign.Progress {
		for {
			p, err := followInStorm(ctx, t, c)
			if err == nil {
				return p
			}
			t.Log(err)
			again++
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
		if len(p.Aside) > 0 {
			again++
			c = submitInStorm(ctx, t, e, spec)
		}
		p = follow() // what was done may have been lost since
		all, err := results(ctx, c)
		if errors.Is(err, campaign.ErrLost) {
			t.Logf("lost: %v", err)
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
	return again
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
			t.Fatalf("%+v: %v", p, err)
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
