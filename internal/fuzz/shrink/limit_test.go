package shrink_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shrink"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// careless is the simulator for clients whose lock deletes without comparing from the
// second try on, and what its runs cost.
type careless struct {
	mu         sync.Mutex
	mostEvents int
	events     int
	mostBytes  uint64
}

func (c *careless) backend() runner.Backend {
	b := simulated.Backend()
	b.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		w, err := sim.Open(ctx, s, seed, sink)
		return &carelessWorld{World: w, cost: c, began: allocated()}, err
	}
	return b
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type carelessWorld struct {
	*sim.World
	cost  *careless
	began uint64
}

func (w *carelessWorld) Nodes(client int) env.Nodes {
	return &carelessNodes{Nodes: w.World.Nodes(client)}
}

func (w *carelessWorld) Close() error {
	w.cost.mu.Lock()
	defer w.cost.mu.Unlock()
	w.cost.mostEvents = max(w.cost.mostEvents, w.Events())
	w.cost.events += w.Events()
	w.cost.mostBytes = max(w.cost.mostBytes, allocated()-w.began)
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

// findCareless hunts with the careless lock until a property is broken. Its shrinking comes
// to candidates in which nothing takes time, and clients spin.
func findCareless(t *testing.T, c *careless, p checker.Property) fuzz.Run {
	t.Helper()
	ground, err := fuzz.SpaceOfLock("redlock")
	if err != nil {
		t.Fatal(err)
	}
	var found fuzz.Run
	h := fuzz.Hunt{
		Backend: c.backend(), Ground: ground, Terms: fuzz.AnyTerms, Wanted: []checker.Property{p},
		Faults: nemesis.Weights{nemesis.AllKinds: 1}, Most: 6, Seed: 1,
	}
	h.Each = func(s fuzz.Run) bool {
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

// Law: no candidate of a shrinking has more events than its bound, nor takes memory without
// bound, even where nothing takes time: a hunt for this defect was killed at 23.5 GB.
func TestCandidatesAreBounded(t *testing.T) {
	found := findCareless(t, &careless{}, checker.Lease)
	var cost careless
	got, err := shrink.Minimizer{Backend: cost.backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms}.Take(t.Context(), checker.Lease, found)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %d runs, %d events, at most %d of one run, %d MB (%s)", shrink.ExtentOf(got.Small.Executed()), got.Shrunk.Runs, cost.events, cost.mostEvents, cost.mostBytes>>20, got.Shrunk.Unfinished)
	if most := max(200_000, 16*found.Result.Events); cost.mostEvents > most {
		t.Errorf("a candidate had %d events: want at most %d", cost.mostEvents, most)
	}
	if cost.mostBytes > 1<<30 {
		t.Errorf("a candidate took %d bytes", cost.mostBytes)
	}
	if got.Shrunk.Unfinished != "" || got.Small.Report.Cut != "" {
		t.Errorf("unfinished: %q, cut: %q", got.Shrunk.Unfinished, got.Small.Report.Cut)
	}
}

// Law: what is shrunk with a bound on its events comes to the same whenever it is repeated,
// is kept as it has become, and says that it is unfinished.
func TestShrinkingEndsWithItsEvents(t *testing.T) {
	var cost careless
	found := findCareless(t, &cost, checker.Lease)
	taker := shrink.Minimizer{Backend: cost.backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms, Events: 20_000}
	var first shrink.Finding
	for n := range 2 {
		cost.events = 0
		got, err := taker.Take(t.Context(), checker.Lease, found)
		if err != nil {
			t.Fatal(err)
		}
		if got.Shrunk.Unfinished != "limit of 20000 events" {
			t.Errorf("it is unfinished for %q", got.Shrunk.Unfinished)
		}
		if n == 0 {
			first = got
		}
		if got.Small.TraceHash != first.Small.TraceHash || got.Shrunk.Runs != first.Shrunk.Runs {
			t.Errorf("repeated it comes to another run, after %d runs and %d", got.Shrunk.Runs, first.Shrunk.Runs)
		}
	}
	all, err := shrink.Minimizer{Backend: cost.backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms}.Take(t.Context(), checker.Lease, found)
	if err != nil || all.Shrunk.Runs <= first.Shrunk.Runs {
		t.Errorf("%d runs with all events, %d with few (%v)", all.Shrunk.Runs, first.Shrunk.Runs, err)
	}
}

// What there is no time to shrink is kept as it was found, and says why.
func TestShrinkingEndsWithItsTime(t *testing.T) {
	taker := shrink.Minimizer{Backend: simulated.Backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms, Time: time.Nanosecond}
	found := crash(t)
	got, err := taker.Take(t.Context(), checker.Lease, found)
	if err != nil || got.Small.TraceHash != found.Result.TraceHash || got.Shrunk.Unfinished != "time limit" {
		t.Errorf("%v, %q, %v: want what was found", got.Small.Plan, got.Shrunk.Unfinished, err)
	}
}

// Law: whatever scenario violates something, to shrink it costs no more events than were
// given for it, but for the last run and those that tell what is due to its faults. Some are
// shrunk to the end within them, and some are not.
func TestShrinkingHostileScenariosIsBounded(t *testing.T) {
	const events, each = 60_000, 10_000
	finished, unfinished := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = each
		var cost careless
		c := fuzz.Candidate{Scenario: s, Seed: 1}
		r, err := c.Run(t.Context(), cost.backend(), nil)
		if err != nil {
			return
		}
		broken := slices.IndexFunc(r.Report.Findings, func(f checker.Finding) bool { return f.Verdict == checker.Violated })
		if broken < 0 {
			return
		}
		cost = careless{}
		p := r.Report.Findings[broken].Property
		taker := shrink.Minimizer{Backend: cost.backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms, Events: events}
		got, err := taker.Take(t.Context(), p, fuzz.Run{Number: 1, Candidate: c, Result: r, Broken: []checker.Property{p}})
		if err != nil {
			t.Fatalf("%v: %s", err, hostiletest.Describe(s))
		}
		if most := 5 * (events + 4*each); cost.events > most { // 4 control runs beside each
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
