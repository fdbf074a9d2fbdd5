package fuzz_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// condition is what makes a known defect of lock libraries visible, as far as a scenario and
// its plan show it, and in how many of a thousand draws it has to hold at least.
type condition struct {
	what  string
	least int
	holds func(s scenarios.Scenario) bool
}

var conditions = []condition{
	{"retry wait shorter than the allowance, against a holder past its validity", 20, func(s scenarios.Scenario) bool {
		return len(s.Clients) > 1 && s.Lock.Retry.Max < s.Lock.TTL-validity(s) && overstays(s)
	}},
	{"node timeout from a fifth of the TTL to half of it", 40, func(s scenarios.Scenario) bool {
		return s.Lock.NodeTimeout >= s.Lock.TTL/5 && s.Lock.NodeTimeout <= s.Lock.TTL/2
	}},
	{"a client stands still between the quorum and the look at the clock", 5, func(s scenarios.Scenario) bool {
		return some(s, func(f nemesis.Fault) bool { return stands(f) > 0 && at(f, env.StepQuorum, env.StepBeforeCheck) })
	}},
	{"node timeout above the TTL", 20, func(s scenarios.Scenario) bool { return s.Lock.NodeTimeout > s.Lock.TTL }},
	{"a client's wall clock steps back", 10, jumps(func(j *nemesis.ClockJump) bool { return j.Client > 0 && j.By < 0 })},
	{"a node's wall clock steps ahead", 10, jumps(func(j *nemesis.ClockJump) bool { return j.Node > 0 && j.By > 0 })},
	{"a client that extends stands still for longer than the TTL", 8, func(s scenarios.Scenario) bool {
		return some(s, func(f nemesis.Fault) bool {
			return stands(f) > s.Lock.TTL && client(f) > 0 && extends(s, client(f)-1)
		})
	}},
	{"a release after the validity", 100, overstays},
	{"links are cut while holds are extended", 30, func(s scenarios.Scenario) bool { return extending(s) && has(s, "partition", "split") }},
	{"an even number of nodes, of which a client reaches half", 10, func(s scenarios.Scenario) bool {
		return s.Nodes%2 == 0 && some(s, func(f nemesis.Fault) bool {
			p, ok := f.Action.(*nemesis.Partition)
			return ok && len(p.Nodes) == s.Nodes/2
		})
	}},
	{"replies are lost", 20, func(s scenarios.Scenario) bool { return s.Bounds.Cleanup > 0 && has(s, "loss", "reset", "partition") }},
	{"a call is cancelled", 20, func(s scenarios.Scenario) bool { return s.Bounds.Cleanup > 0 && has(s, "cancel") }},
	{"a SET can come after the release", 20, func(s scenarios.Scenario) bool {
		quick := slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return c.Work.Min < s.Latency.Max })
		return quick && s.Latency.Min < s.Latency.Max/2 && !s.Connections.Pipelined && s.Bounds.Cleanup > 0
	}},
	{"three nodes, one of which goes silent", 20, func(s scenarios.Scenario) bool {
		return s.Nodes == 3 && len(s.Clients) > 1 && has(s, "node-pause", "partition", "crash", "loss")
	}},
	{"a node is gone, and tries are counted", 50, func(s scenarios.Scenario) bool {
		return s.Bounds.Tries > 0 && has(s, "crash", "power-loss", "shutdown", "partition", "node-error")
	}},
	{"a watchdog, rivals, and a hold longer than the TTL", 20, func(s scenarios.Scenario) bool {
		return s.Lock.Watchdog.Every > 0 && s.Lock.Watchdog.Limit == 0 && len(s.Clients) > 1 && overstays(s)
	}},
	{"a watchdog, a call that is cancelled or lost, and somebody who has to be granted", 5, func(s scenarios.Scenario) bool {
		return s.Lock.Watchdog.Every > 0 && s.Lock.Watchdog.Limit == 0 && s.Bounds.Grant > 0 && has(s, "cancel", "loss", "reset", "partition")
	}},
	{"a holder is cut off for longer than its validity", 50, func(s scenarios.Scenario) bool {
		return overstays(s) && some(s, func(f nemesis.Fault) bool {
			return f.Action.Kind() == "partition" && (f.End == nil || f.End.After != nil && *f.End.After > s.Lock.TTL)
		})
	}},
	{"votes split among three or more who begin at once", 50, func(s scenarios.Scenario) bool {
		early := 0
		for _, c := range s.Clients {
			if c.Start.Min <= s.Latency.Max {
				early++
			}
		}
		return early >= 3
	}},
	{"constant latencies, clients nearest to different nodes, and somebody who has to be granted", 10, func(s scenarios.Scenario) bool {
		return len(s.Links) > 0 && s.Bounds.Grant > 0
	}},
	{"scripts are flushed", 20, func(s scenarios.Scenario) bool { return s.Bounds.Cleanup > 0 && has(s, "script-flush") }},
	{"a quarantine, an extension by a longer TTL, and a restart", 5, func(s scenarios.Scenario) bool {
		return s.Lock.Quarantine > 0 && s.LongestTTL() > s.Lock.TTL && has(s, "crash", "power-loss", "shutdown", "old-snapshot")
	}},
	{"impossible TTLs", 50, func(s scenarios.Scenario) bool {
		return slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool {
			return c.Workload == "misuse" || c.ExtendTTL.Max > 0 && c.ExtendTTL.Max < time.Millisecond
		})
	}},
	{"a fault within an extension or a release", 20, func(s scenarios.Scenario) bool {
		return some(s, func(f nemesis.Fault) bool { return at(f, env.StepExtend, env.StepExtended, env.StepBeforeRelease) })
	}},
	{"somebody has to be granted", 200, func(s scenarios.Scenario) bool { return s.Bounds.Grant > 0 }},
	{"what is left behind is judged", 300, func(s scenarios.Scenario) bool { return s.Bounds.Cleanup > 0 }},
}

func validity(s scenarios.Scenario) time.Duration {
	return s.Lock.TTL - time.Duration(float64(s.Lock.TTL)*s.Lock.DriftFactor) - 2*time.Millisecond
}

// overstays reports whether some client works for longer than the TTL.
func overstays(s scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return c.Work.Max > s.Lock.TTL })
}

func extends(s scenarios.Scenario, i int) bool {
	return s.Lock.Watchdog.Every > 0 || s.Clients[i].ExtendEvery > 0
}

func extending(s scenarios.Scenario) bool {
	for i := range s.Clients {
		if extends(s, i) {
			return true
		}
	}
	return false
}

func some(s scenarios.Scenario, is func(nemesis.Fault) bool) bool {
	return slices.ContainsFunc(s.Plan, is)
}

func has(s scenarios.Scenario, kinds ...nemesis.Kind) bool {
	return some(s, func(f nemesis.Fault) bool { return slices.Contains(kinds, f.Action.Kind()) })
}

func at(f nemesis.Fault, steps ...env.Step) bool {
	return slices.ContainsFunc(steps, func(s env.Step) bool { return f.Start.Step == nemesis.StepName(s.String()) })
}

// stands returns for how long a fault stops a client, and client which one.
func stands(f nemesis.Fault) time.Duration {
	if client(f) == 0 || f.End == nil || f.End.After == nil {
		return 0
	}
	return *f.End.After
}

func client(f nemesis.Fault) int {
	switch a := f.Action.(type) {
	case *nemesis.Pause:
		return a.Client
	case *nemesis.Suspend:
		return a.Client
	}
	return 0
}

func jumps(is func(*nemesis.ClockJump) bool) func(scenarios.Scenario) bool {
	return func(s scenarios.Scenario) bool {
		return some(s, func(f nemesis.Fault) bool {
			j, ok := f.Action.(*nemesis.ClockJump)
			return ok && is(j)
		})
	}
}

// Law: whatever a Redlock has to handle correctly happens often enough in a hunt.
func TestCensus(t *testing.T) {
	const draws = 10_000
	g, err := fuzz.SpaceOfLock("redlock")
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]int, len(conditions))
	for seed := range uint64(draws) {
		random := rand.New(rand.NewPCG(seed, 3))
		s := g.Draw(random)
		faults, err := nemesis.Generator{Most: 6}.Only(s.World(), simulated.Backend().Ability)
		if err != nil {
			t.Fatal(err)
		}
		s.Plan = fuzz.Plan(faults, s, func(nemesis.Fault) bool { return true }, random)
		if err := s.Validate(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, printedScenario(t, s))
		}
		for i, c := range conditions {
			if c.holds(s) {
				seen[i]++
			}
		}
	}
	for i, c := range conditions {
		t.Logf("%5.1f %% %s", float64(seen[i])*100/draws, c.what)
		if seen[i]*1000 < c.least*draws {
			t.Errorf("%s: in %d of %d draws, want at least %d in a thousand", c.what, seen[i], draws, c.least)
		}
	}
}
