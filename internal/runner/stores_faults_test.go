package runner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Faults that locks in a store do not promise to survive, as the storms below show.
var (
	// The clock that the deadline is read on, against that of the store's leader:
	// their rates differ by more than the allowance. So does a healing by a slew make
	// them, see evenly. (For a suspension the deadline can be read on boottime.)
	offRate = []nemesis.Kind{"clock-rate", "clock-slew", "clock-freeze"}
	// A client that continues from a snapshot: none of its clocks shows that.
	resurrected = []nemesis.Kind{"snapshot"}
	// Steps of the wall clock, by which a database counts the TTL of its rows. A restored machine
	// can show the time of its snapshot.
	steps = []nemesis.Kind{"clock-jump", "clock-strobe", "vm-restore"}
)

// stormyStore is three clients that always want a lock in a store, under faults of all kinds except
// some. They use the clock that counts suspension. No lock promises anything of clones, whose tokens
// are the same (a law of package hunt). A store has no replica for each node, and knows copies.
func stormyStore(t *testing.T, kind string, without ...[]nemesis.Kind) scenarios.Scenario {
	c := sections(4, span(0, 0), span(50*ms, 1200*ms), span(0, 50*ms))
	s := inStore(t, kind, c, c, c)
	s.Lock.Clock, s.Lock.Margin, s.Lock.Retry = "boottime", 0, span(ms, 5*ms)
	if kind == "chubby" {
		s.Lock.Grace, s.Lock.LockDelay = time.Second, 200*ms
	}
	weights := nemesis.Weights{}
	for _, k := range sim.Faults() {
		if never := []nemesis.Kind{"clone", "failover", "split-brain", "duplicate"}; !slices.Contains(slices.Concat(append(without, never)...), k) {
			weights[k] = 1
		}
	}
	return runner.WithGenerator(s, nemesis.Generator{Faults: weights, Most: 20})
}

// never wants no run to violate any of the properties.
func never(t *testing.T, tally runner.Tally, properties ...checker.Property) {
	t.Helper()
	for _, p := range properties {
		if n := tally.Seen[p][checker.Violated]; n > 0 {
			r := tally.First[p]
			t.Errorf("%s is violated in %d of %d storms, first with seed %d: %s", p.Title(), n, tally.Runs, r.Seed, r.Report.Finding(p).Story())
		}
	}
}

// evenly runs a law's storms with clocks that a fault leaves at their rates when it
// ends: what would be healed by a slew is healed by a step.
func evenly(t *testing.T, s scenarios.Scenario, n int) runner.Tally {
	t.Helper()
	e := prepared(t, simulator, s)
	one := func(ctx context.Context, seed uint64) (runner.Result, error) {
		drawn := s
		drawn.Plan, drawn.Generate = slices.Concat(s.Plan, runner.Draw(e, seed)), nil
		for i, f := range drawn.Plan {
			if j, jumps := f.Action.(*nemesis.ClockJump); jumps && j.Heal == nemesis.HealSlew {
				drawn.Plan[i].Action = &nemesis.ClockJump{Machine: j.Machine, By: j.By, Healing: nemesis.Healing{Heal: nemesis.HealStep}}
			}
		}
		return runner.Run(ctx, simulator, drawn, seed, nil)
	}
	tally, err := runner.Batch{Experiment: e, First: 1, Runs: n, One: one}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// Law: a hold on a session, or on a key that expires by itself, excludes others, whatever happens to clients, network and
// nodes, and whatever wall clocks show, as long as all clocks run at one rate; nobody
// is kept out for ever; fences grow.
func TestSessionsExcludeWhileClocksRunAtOneRate(t *testing.T) {
	each(t, append([]string{"expiring-key"}, sessionLocks...), func(t *testing.T, kind string) {
		s := stormyStore(t, kind, offRate, resurrected)
		if kind == "expiring-key" {
			for i := range s.Clients {
				s.Clients[i].ExtendEvery = 300 * ms
			}
		}
		never(t, evenly(t, s, 20), checker.Lease, checker.Fence, checker.Contract, checker.DeadlockFreedom)
	})
	s := stormyStore(t, "etcd-unchecked", offRate, resurrected)
	wantVerdicts(t, evenly(t, s, 60), verdicts{checker.Lease: checker.Violated})
}

// Law: so does a row of a database, while no wall clock is stepped.
func TestRowExcludesWhileNoWallClockIsStepped(t *testing.T) {
	s := stormyStore(t, "database-row", offRate, resurrected, steps)
	never(t, runs(t, s, 20), checker.Lease, checker.Fence, checker.Contract, checker.DeadlockFreedom)
	wantVerdicts(t, runs(t, stormyStore(t, "database-row", offRate, resurrected), 60), verdicts{checker.Lease: checker.Violated})
}

// Law: fences grow in storms also where the lock itself does not exclude, as long as
// the store forgets nothing, and no client wakes up in its own past: it would take a
// grant for valid that is over, with a fence that is older than the last (a law of
// package hunt shows that).
func TestFencesOfAStoreGrowInEveryStorm(t *testing.T) {
	each(t, storeLocks, func(t *testing.T, kind string) {
		never(t, runs(t, stormyStore(t, kind, resurrected), 10), checker.Fence)
	})
	s := stormyStore(t, "database-row", []nemesis.Kind{"peer-partition", "lease-revoked", "ttl-restart"}) // which such a store excludes
	s.Store.Asynchronous = true
	wantVerdicts(t, runs(t, s, 60), verdicts{checker.Fence: checker.Violated})
}

// Each assumption is needed: without it a hold on a session overlaps another's.
func TestWhatSessionLocksAssume(t *testing.T) {
	nodes := func(ppm int64) (plan nemesis.Plan) {
		for n := 1; n <= 3; n++ {
			plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: n}, PPM: ppm}, Start: nemesis.At(0)})
		}
		return plan
	}
	dies := nemesis.Fault{Action: &nemesis.Kill{Client: 1}, Start: nemesis.When(1, env.StepAfterRead, 50*ms)}
	sleeps := nemesis.Fault{Action: &nemesis.Suspend{Client: 1}, Start: nemesis.When(1, env.StepAfterRead, 50*ms), End: nemesis.After(2 * time.Second)}
	ahead := func(heal nemesis.Healing) nemesis.Fault { // the wall clock of client 1, until it is put right
		jump := &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: time.Minute, Healing: heal}
		return nemesis.Fault{Action: jump, Start: nemesis.At(0), End: nemesis.After(ms)}
	}
	slewed, stepped := ahead(nemesis.Healing{Heal: nemesis.HealSlew, HealPPM: nemesis.MaxSlewPPM}), ahead(nemesis.Healing{Heal: nemesis.HealStep})
	for name, c := range map[string]struct {
		plan  nemesis.Plan
		clock string
		want  checker.Verdict
	}{
		"the leader's clock is fast by 1 %": {append(nodes(10_000), dies), "", checker.Holds},
		"the leader's clock is fast by 5 %": {append(nodes(50_000), dies), "", checker.Violated},
		"the holder's clock is slewed back": {nemesis.Plan{slewed, dies}, "", checker.Violated},
		"it is stepped back":                {nemesis.Plan{stepped, dies}, "", checker.Holds},
		"the holder sleeps":                 {nemesis.Plan{sleeps}, "", checker.Violated},
		"it sleeps, on boottime":            {nemesis.Plan{sleeps}, "boottime", checker.Holds},
	} {
		each(t, sessionLocks, func(t *testing.T, kind string) {
			s := inStore(t, kind, holderAndRivals(2)...)
			s.Lock.Clock, s.Plan = c.clock, c.plan
			if got := runs(t, s, 30).Observed(checker.Lease); got != c.want {
				t.Errorf("where %s, lease exclusion of %s is %v, want %v", name, kind, got, c.want)
			}
		})
	}
}
