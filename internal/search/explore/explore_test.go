package explore

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// crashing is a world in which one node forgets its keys at some time.
func crashing(t *testing.T) scenarios.Scenario {
	t.Helper()
	s, _ := randomWorld(rand.New(rand.NewPCG(1, 1)))
	s.Lock = scenarios.Lock{Kind: "single-node", TTL: 8 * ms, DriftFactor: 0.01, NodeTimeout: 3 * ms, Retry: nemesis.Range{Min: ms, Max: ms}}
	s.Nodes, s.Links, s.Horizon = 1, nil, 12*ms
	s.Latency.Range = nemesis.Range{Min: ms / 2, Max: 3 * ms / 2}
	for i := range s.Clients {
		s.Clients[i].Work = nemesis.Range{Min: 3 * ms, Max: 3 * ms}
	}
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0), End: nemesis.After(0)}}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

var narrow = Bounds{Latencies: 2, Draws: 2, Deviations: 2, Faults: 1, Tick: ms}

func explored(t *testing.T, ctx context.Context, l Limits) Outcome {
	t.Helper()
	o, err := Explore(ctx, crashing(t), narrow, l, []checker.Property{checker.Lease, checker.Contract}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The outcome does not depend on the number of workers, and few remembered states leave nothing out.
func TestOutcomeIsThatOfEveryRun(t *testing.T) {
	one, many := explored(t, t.Context(), Limits{Workers: 1}), explored(t, t.Context(), Limits{Workers: 4})
	same := func(a, b Outcome) bool {
		return a.Executions == b.Executions && a.Cut == b.Cut && a.States == b.States && a.Verdict() == b.Verdict() &&
			reflect.DeepEqual(a.Find().Replay(scenarios.Part{}), b.Find().Replay(scenarios.Part{}))
	}
	if !same(one, many) {
		t.Errorf("with one worker %+v, with four %+v", one.Tally, many.Tally)
	}
	if one.Verdict() != Violated || one.Find().Faults != 1 || !one.Complete {
		t.Errorf("%v with %+v", one.Verdict(), one.Find())
	}
	forgetful := explored(t, t.Context(), Limits{Workers: 4, States: 1})
	if forgetful.Verdict() != Violated || forgetful.Executions <= one.Executions || forgetful.Find().Events != one.Find().Events {
		t.Errorf("%d runs with all states, %d with one", one.Executions, forgetful.Executions)
	}
}

// An exploration that is stopped says so, and keeps what is there.
func TestStoppedExploration(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if o := explored(t, ctx, Limits{}); o.Verdict() != Unfinished || o.Complete {
		t.Errorf("%v, finished: %t", o.Verdict(), o.Complete)
	}
	if o := explored(t, t.Context(), Limits{Executions: 2}); o.Complete || o.Explored != 0 {
		t.Errorf("after two runs of each plan: %+v", o)
	}
}

// The plans of a bound: every subset of so many faults, and with ticks every start of each.
func TestPlans(t *testing.T) {
	crashes := 2 * 2 * (2 + 2*len(env.Steps()))
	// A crash of the plan and an added one: not on the same node at the ticks while a crash of 8 ms lasts.
	pairs := (2*2)*crashes - 2
	s := crashing(t)
	s.Nodes = 2
	s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.Crash{Node: 2}, Start: nemesis.At(0), End: nemesis.After(0)})
	for name, c := range map[string]struct {
		bounds Bounds
		want   int
	}{
		"none":               {Bounds{}, 1},
		"one at its time":    {Bounds{Faults: 1}, 3},
		"both at their time": {Bounds{Faults: 2}, 4},
		"one at any tick":    {Bounds{Faults: 1, Tick: 6 * ms}, 1 + 2*2},
		"both at any tick":   {Bounds{Faults: 2, Tick: 6 * ms}, 1 + 2*2 + 2*2},
		// Of each node a crash of two lengths, at two ticks and at each step of two clients.
		"a crash more":          {Bounds{Tick: 6 * ms, Kinds: []nemesis.Kind{"crash"}, Added: 1}, 1 + crashes},
		"one and a crash more":  {Bounds{Faults: 1, Tick: 6 * ms, Kinds: []nemesis.Kind{"crash"}, Added: 1}, 1 + 2*2 + crashes + pairs},
		"a pause at every step": {Bounds{Tick: 12 * ms, Kinds: []nemesis.Kind{"pause"}, Added: 1}, 1 + 2*(1+len(env.Steps()))},
	} {
		if got, err := c.bounds.plans(s); err != nil || len(got) != c.want {
			t.Errorf("%s: %d plans, want %d: %v", name, len(got), c.want, err)
		}
	}
}
