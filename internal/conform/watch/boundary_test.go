package watch_test

import (
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/conform"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	ms      = time.Millisecond
	us      = time.Microsecond
	ns      = time.Nanosecond
	latency = 10 * ns
)

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// holder is a client that holds the lock for longer than any validity here.
func holder(start time.Duration) scenarios.Client {
	return scenarios.Client{Workload: "hold", Resource: "r", Start: exactly(start), Work: exactly(300 * ms), Rounds: 1}
}

// edge is a world in which all that matters is exact: messages take 10 ns, and the allowance is 2 ms.
func edge(ttl time.Duration, nodes int, first, second time.Duration, faults ...nemesis.Fault) scenarios.Scenario {
	s := scenarios.Scenario{
		Name:    "edge",
		Lock:    scenarios.Lock{Kind: "redlock", TTL: ttl, NodeTimeout: ms, Linger: ms, Retry: exactly(100 * us)},
		Clients: []scenarios.Client{holder(first), holder(second)},
	}
	s.Nodes, s.Persistence, s.Guard, s.Horizon = nodes, nemesis.Nothing, "plain", second+400*us
	s.Latency = nemesis.Distribution{Range: exactly(latency)}
	s.Plan = faults
	return s
}

func always(a nemesis.Action) nemesis.Fault { return nemesis.Fault{Action: a, Start: nemesis.At(0)} }

// restarted is a world whose only common node crashes, at a time after its vote, and is away for a while. The
// other client asks when it is back.
func restarted(crash, away time.Duration) scenarios.Scenario {
	return edge(10*ms, 3, 0, crash+away-latency,
		always(&nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{3}}}),
		always(&nemesis.Partition{Links: nemesis.Links{Clients: []int{2}, Nodes: []int{1}}}),
		nemesis.Fault{Action: &nemesis.Crash{Node: 2}, Start: nemesis.At(crash), End: nemesis.After(away)})
}

// rated is a world whose node is fast and whose holder is slow, in parts per million. The holder's key is set
// just before a millisecond of the node's clock ends, and expires 100 of these milliseconds later; the other
// client asks then.
func rated(fast, slow int64) scenarios.Scenario {
	million := 1_000_000 + fast
	expires := time.Duration(int64(101*ms) * 1_000_000 / million)
	set := time.Duration(int64(ms-30*ns) * 1_000_000 / million)
	read := time.Duration(int64(set-latency) * (1_000_000 - slow) / 1_000_000)
	faults := []nemesis.Fault{always(&nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -slow})}
	if fast > 0 {
		faults = append(faults, always(&nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: fast}))
	}
	return edge(100*ms, 1, read, expires+1-latency, faults...)
}

// jumped is a world whose node's clock is stepped forward, and whose holder is slow, in parts per million.
func jumped(by time.Duration, slow int64) scenarios.Scenario {
	read := time.Duration(int64(ms-20*ns) * (1_000_000 - slow) / 1_000_000)
	faults := []nemesis.Fault{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: by}, Start: nemesis.At(50 * ms)}}
	if slow > 0 {
		faults = append(faults, always(&nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -slow}))
	}
	return edge(100*ms, 1, read, 101*ms-by-latency, faults...)
}

// stopped is a world in which the holder's clock stops for a while.
func stopped(d time.Duration) scenarios.Scenario {
	return edge(100*ms, 1, ms-20*ns, 101*ms-latency,
		nemesis.Fault{Action: &nemesis.Suspend{Client: 1}, Start: nemesis.At(50 * ms), End: nemesis.After(d)})
}

// Law: the boundaries of the proof are those that an exploration finds, one tick on each side: a node has to
// stay away for a lease (A4), and the allowance a covers the rates and steps of clocks if and only if
// a (1 + fast) >= TTL (fast + slow) + forward (1 - slow) + back (1 + fast) (ExactCondition). On the far side the
// run breaks the clause of the boundary, and no other.
func TestBoundaries(t *testing.T) {
	var at, near []scenarios.Scenario
	for crash := 30 * ns; crash < 8*ms; crash += 2 * ms {
		at, near = append(at, restarted(crash, 8*ms)), append(near, restarted(crash, 7*ms))
	}
	for _, c := range []struct {
		what, clause    string
		inside, outside []scenarios.Scenario
	}{
		{"a restart after a lease of 8 ms, and after 7 ms", "A4Quiet", at, near},
		{"a client slow by 2 %, and by 1 ppm more", "A5", one(rated(0, 20_000)), one(rated(0, 20_001))},
		{"a node fast by 1 % and a client slow by 1.02 %, and by 1 ppm more", "A5", one(rated(10_000, 10_200)), one(rated(10_000, 10_201))},
		{"a step of a node's clock by the allowance, and by 1 µs more", "A5", one(jumped(2*ms, 0)), one(jumped(2*ms+us, 0))},
		{"a step of a node's clock by 1.010 ms beside a client slow by 1 %, and by 1.011 ms", "A5", one(jumped(1010*us, 10_000)), one(jumped(1011*us, 10_000))},
		{"a stop of the client's clock for the allowance, and for 1 µs more", "A5", one(stopped(2 * ms)), one(stopped(2*ms + us))},
	} {
		if verdict, broken := explored(t, c.inside); verdict != explore.Holds || len(broken) > 0 {
			t.Errorf("%s: inside %v, broken: %v", c.what, verdict, broken)
		}
		verdict, broken := explored(t, c.outside)
		if verdict != explore.Violated || len(broken) != 1 || !broken[c.clause] {
			t.Errorf("%s: outside %v, broken: %v, want %s", c.what, verdict, broken, c.clause)
		}
	}
}

func one(s scenarios.Scenario) []scenarios.Scenario { return []scenarios.Scenario{s} }

// explored explores worlds, and returns whether lease exclusion is violated in one, and the assumptions that
// runs break.
func explored(t *testing.T, worlds []scenarios.Scenario) (verdict explore.Verdict, broken map[string]bool) {
	t.Helper()
	var mu sync.Mutex
	verdict, broken = explore.Holds, map[string]bool{}
	for _, s := range worlds {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		b := explore.Bounds{Latencies: 1, Draws: 1, Deviations: 1, Faults: len(s.Plan)}
		l := explore.Limits{Workers: 1, Watched: func(e runner.Experiment) runner.Experiment {
			return watch.Experiment(e, func(o conform.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				for _, name := range o.Assumptions() {
					broken[name] = true
				}
			})
		}}
		o, err := explore.Explore(t.Context(), s, b, l, []checker.Property{checker.Lease}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Verdict() != explore.Holds {
			verdict = o.Verdict()
		}
	}
	return verdict, broken
}
