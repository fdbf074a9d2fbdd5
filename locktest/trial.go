package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// resource is what clients lock.
const resource = "invoice-7"

// nearby is how long messages take where nothing goes wrong, in a world that makes its network.
var nearby = nemesis.Range{Min: 200 * time.Microsecond, Max: time.Millisecond}

// scenario is the experiment of a storm. What it says of the lock's inner life means nothing
// to a foreign one.
func (c Config) scenario(s Storm) scenarios.Scenario {
	work, think, rounds := cmp.Or(s.Work, c.Work), cmp.Or(s.Think, c.Think), cmp.Or(s.Rounds, c.Rounds)
	clients := make([]scenarios.Client, c.Clients)
	for i := range clients {
		clients[i] = scenarios.Client{
			Workload: c.Workload, Resource: resource, Rounds: rounds, ExtendEvery: c.Extend,
			Work:  nemesis.Range{Min: work / 2, Max: work},
			Think: nemesis.Range{Min: think / 2, Max: think},
		}
	}
	made := scenarios.Scenario{
		Name: s.Name, Summary: s.Summary, Clients: clients, Bounds: c.Bounds, Generate: s.Generate,
		Lock: scenarios.Lock{Kind: c.Name, TTL: c.TTL, NodeTimeout: c.TTL},
		Setting: nemesis.Setting{
			Nodes: c.Nodes, Persistence: c.Persistence, Guard: c.Guard, Plan: s.Plan,
			Latency: nemesis.Distribution{Range: nearby},
		},
	}
	if c.Extend > 0 {
		work += c.Patience // an extension is waited for, too
	}
	made.Horizon = total(span{20, c.TTL}, span{1, c.Bounds.Acquire}, span{1, c.Bounds.Grant}, span{float64(rounds), think}, span{float64(rounds) * float64(c.Clients), work})
	return made
}

// span is a time, so many times.
type span struct {
	times float64
	of    time.Duration
}

// total is how long spans last together. What no duration can hold is as long as one can be,
// which a scenario refuses.
func total(spans ...span) time.Duration {
	var sum float64
	for _, s := range spans {
		sum += s.times * float64(s.of)
	}
	return time.Duration(min(sum, math.MaxInt64/2))
}

// trial is a storm, and a lock that is in it.
type trial struct {
	Config
	make func(Env) Locker
}

// outcome is one run of a trial.
type outcome struct {
	runner.Result
	traits  traits
	idle    []int // nodes that nobody has dialled
	header  history.Header
	history history.Log
}

// run runs a scenario once. An error says that there was no proper run.
func (tr trial) run(t *testing.T, s scenarios.Scenario, seed uint64) (o outcome, err error) {
	u := newUsage()
	e, err := runner.PrepareExternal(tr.Backend.world().Backend, s, runner.External{
		Name:  tr.Name,
		Build: func(st runner.ClientEnv) (runner.Lock, error) { return tr.build(st, u, tr.make) },
	})
	if err != nil {
		return o, err
	}
	o.header = e.Header(seed)
	err = tr.Backend.world().enter(t, func(ctx context.Context) (err error) {
		o.Result, err = e.Run(ctx, seed, &o.history)
		return err
	})
	if err != nil {
		err = errors.Join(u.deaf(), err)
	}
	o.traits, o.idle = u.seen(s.Nodes)
	if unseen(o.header, o.history) {
		o = o.withoutKeys()
	}
	if err == nil && o.Interrupted {
		err = errors.New("the run was stopped")
	}
	return o, cmp.Or(u.misused(), err, u.undialled())
}

// settled is run, once more if the machine was too slow for the plan.
func (tr trial) settled(t *testing.T, s scenarios.Scenario, seed uint64) (outcome, error) {
	t.Helper()
	o, err := tr.run(t, s, seed)
	if err == nil && o.Slipped() {
		t.Logf("seed %d: things came %v late, more than %v: run again", seed, o.SchedulingLag, s.AllowedSlip())
		o, err = tr.run(t, s, seed)
	}
	if err != nil {
		err = fmt.Errorf("seed %d: %w", seed, err)
	}
	return o, err
}
