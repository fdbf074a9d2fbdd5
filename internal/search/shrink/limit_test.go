package shrink_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
)

// careless is a simulator with a lock that deletes without comparing from the second attempt
// on. It counts the cost of runs.
type careless struct {
	mu         sync.Mutex
	mostEvents int
	events     int
}

func (c *careless) backend() runner.Backend {
	b := simulated.Backend()
	b.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		w, err := sim.Open(ctx, s, seed, sink)
		return &carelessWorld{World: w, cost: c}, err
	}
	return b
}

type carelessWorld struct {
	*sim.World
	cost *careless
}

func (w *carelessWorld) Nodes(client int) env.Nodes {
	return &carelessNodes{Nodes: w.World.Nodes(client)}
}

func (w *carelessWorld) Close() error {
	w.cost.mu.Lock()
	defer w.cost.mu.Unlock()
	w.cost.mostEvents = max(w.cost.mostEvents, w.Events())
	w.cost.events += w.Events()
	return w.World.Close()
}

type carelessNodes struct {
	env.Nodes
	tries int
}

func (n *carelessNodes) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	switch c.Op {
	case env.OpSet:
		n.tries++
	case env.OpDelete:
		if n.tries > 1 {
			c.Op = env.OpRemove
		}
	}
	return n.Nodes.Send(to, c, giveUp)
}

// findCareless hunts with the careless lock until a property is violated. Its reduction
// reaches candidates without any latency, in which clients spin.
func findCareless(t *testing.T, c *careless, p checker.Property) hunt.Run {
	t.Helper()
	ground, err := hunt.SpaceOfLock("redlock")
	if err != nil {
		t.Fatal(err)
	}
	var found hunt.Run
	h := hunt.Hunt{
		Backend: c.backend(), Space: ground, Terms: promises.Unconditional, Wanted: []checker.Property{p},
		Faults: nemesis.Weights{nemesis.AllKinds: 1}, MaxFaults: 6, Seed: 1,
	}
	h.Each = func(s hunt.Run) bool {
		found = s
		return len(s.Broken) == 0 && s.Number < 1000
	}
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(found.Broken) == 0 {
		t.Fatal("nothing was found")
	}
	return found
}

// Law: no candidate exceeds its limit of events, even without any latency: a hunt for this defect was
// once killed at 23.5 GB. A reduction with a limit of events gives the same result whenever it is
// repeated, keeps the smallest so far, and says that it is unfinished.
func TestShrinkingIsBounded(t *testing.T) {
	var cost careless
	found := findCareless(t, &cost, checker.Lease)
	cost = careless{}
	whole := shrink.Minimizer{Backend: cost.backend(), Terms: promises.Unconditional, Promised: promises.Of}
	all := minimized(t, whole, checker.Lease, found)
	if most := max(200_000, 16*found.Result.Events); cost.mostEvents > most {
		t.Errorf("a candidate had %d events: want at most %d", cost.mostEvents, most)
	}
	if all.Shrunk.Unfinished != "" || all.Small.Report.Cut != "" {
		t.Errorf("unfinished: %q, cut: %q", all.Shrunk.Unfinished, all.Small.Report.Cut)
	}
	limited := whole
	limited.Events = 20_000
	one, two := minimized(t, limited, checker.Lease, found), minimized(t, limited, checker.Lease, found)
	if one.Shrunk.Unfinished != "limit of 20000 events" || one.Shrunk.Runs >= all.Shrunk.Runs {
		t.Errorf("unfinished: %q, after %d runs of %d", one.Shrunk.Unfinished, one.Shrunk.Runs, all.Shrunk.Runs)
	}
	if one.Small.TraceHash != two.Small.TraceHash || one.Shrunk.Runs != two.Shrunk.Runs {
		t.Errorf("repeated it comes to another run, after %d runs and %d", one.Shrunk.Runs, two.Shrunk.Runs)
	}
}

// A finding that there is no time to reduce is kept as it was found, with the reason.
func TestShrinkingEndsWithItsTime(t *testing.T) {
	minimizer := plain
	minimizer.Time = time.Nanosecond
	found := crash(t)
	got, err := minimizer.Minimize(t.Context(), checker.Lease, found)
	if err != nil || got.Small.TraceHash != found.Result.TraceHash || got.Shrunk.Unfinished != "time limit" {
		t.Errorf("%v, %q, %v: want what was found", got.Small.Plan, got.Shrunk.Unfinished, err)
	}
}

// Law: reducing any violation costs no more than its limit of events, plus the last run and
// the control runs. Some reductions finish within it, and some do not.
func TestShrinkingHostileScenariosIsBounded(t *testing.T) {
	const events, each = 60_000, 10_000
	finished, unfinished := 0, 0
	testkit.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = each
		var cost careless
		r, err := runner.Run(t.Context(), cost.backend(), s, 1, nil)
		if err != nil {
			return
		}
		broken := slices.IndexFunc(r.Report.Findings, func(f checker.Finding) bool { return f.Verdict == checker.Violated })
		if broken < 0 {
			return
		}
		cost = careless{}
		p := r.Report.Findings[broken].Property
		minimizer := shrink.Minimizer{Backend: cost.backend(), Terms: promises.Unconditional, Promised: promises.Of, Events: events}
		got, err := minimizer.Minimize(t.Context(), p, hunt.Run{Number: 1, Result: r, Broken: []checker.Property{p}})
		if err != nil {
			t.Fatalf("%v: %s", err, hostiletest.Describe(s))
		}
		// Beyond the limit: the last candidate with its 4 control runs, and the run that is kept.
		if most := events + 6*each; cost.events > most {
			t.Fatalf("%d events, want at most %d: %s", cost.events, most, hostiletest.Describe(s))
		}
		if got.Shrunk.Unfinished == "" {
			finished++
		} else {
			unfinished++
		}
	})
	if finished == 0 || unfinished == 0 {
		t.Errorf("%d were shrunk to the end, %d were not", finished, unfinished)
	}
}
