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
	"github.com/lockstorm/lockstorm/internal/clientlog"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// resource is the name of the resource that clients lock.
const resource = "invoice-7"

// usualLatency is the latency of messages without faults, on backends whose network is
// simulated.
var usualLatency = nemesis.Range{Min: 200 * time.Microsecond, Max: time.Millisecond}

// scenario returns the scenario of a storm. Its parameters of the lock do not apply to the
// user's lock.
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
			Nodes: c.Nodes, Persistence: c.Persistence, Store: c.Store.setting(), Guard: c.Guard, Plan: s.Plan,
			Latency: nemesis.Distribution{Range: usualLatency},
		},
	}
	if c.Extend > 0 {
		work += c.Patience // a client also waits for extensions
	}
	made.Horizon = total(span{20, c.TTL}, span{1, c.Bounds.Acquire}, span{1, c.Bounds.Grant}, span{float64(rounds), think}, span{float64(rounds) * float64(c.Clients), work})
	return made
}

// span is a duration and a factor.
type span struct {
	times float64
	of    time.Duration
}

// total returns the sum of spans. If a duration cannot hold it, it returns one so long that
// a scenario rejects it.
func total(spans ...span) time.Duration {
	var sum float64
	for _, s := range spans {
		sum += s.times * float64(s.of)
	}
	return time.Duration(min(sum, math.MaxInt64/2))
}

// trial is a lock and how it is tested.
type trial struct {
	Config
	make    func(Env) Locker
	budget  *budget
	defects defects
}

// runResult is the result of one run.
type runResult struct {
	runner.Result
	traits  capabilities
	idle    []int // nodes that no client connected to
	header  history.Header
	history history.Log

	clientLog []byte // what client libraries have logged
}

// run runs a scenario once. An error means that the run itself failed.
func (tr trial) run(t *testing.T, s scenarios.Scenario, seed uint64) (o runResult, err error) {
	u := newUsage()
	logged := new(clientlog.Log)
	build := func(st runner.ClientEnv) (runner.Lock, error) { return tr.build(st, u, logged, tr.make) }
	e, err := runner.PrepareExternal(tr.world().Backend, s, tr.external(build))
	if err != nil {
		return o, err
	}
	o.header = e.Header(seed)
	o.Scenario, o.Plan, o.Seed = s, e.Plan(seed), seed // known even if there is no result
	var inside struct {
		result  runner.Result
		history history.Log
	}
	defer clientlog.Capture(logged, tr.world().within())()
	defer func() { o.clientLog = logged.Text() }()
	err = tr.world().enter(t, codeOf(tr.make), func(ctx context.Context) (err error) {
		inside.result, err = e.Run(ctx, seed, &inside.history)
		return err
	})
	if stalled(err) { // the run may still write its result
		return o, err
	}
	if o.history = inside.history; err == nil {
		o.Result = inside.result
	} else {
		err = errors.Join(u.unreturned(), err)
	}
	if o.traits, o.idle = u.seen(s.Nodes); tr.Store.is() {
		o.idle = nil // the members replicate what a client asks one of them
	}
	if keysUnrecorded(o.header, o.history) {
		o = o.withoutKeys()
	}
	if err == nil && o.Interrupted {
		err = errors.New("the run was stopped")
	}
	return o, cmp.Or(u.misuseError(), err, u.undialledError())
}

// runSettled is run, repeated once if the machine was too slow for the plan.
func (tr trial) runSettled(t *testing.T, s scenarios.Scenario, seed uint64) (runResult, error) {
	t.Helper()
	o, err := tr.run(t, s, seed)
	if err == nil && o.Slipped() {
		t.Logf("seed %d: events were up to %v late, more than %v: running it again", seed, o.SchedulingLag, s.AllowedSlip())
		o, err = tr.run(t, s, seed)
	}
	if err != nil {
		err = fmt.Errorf("seed %d: %w", seed, err)
	}
	return o, err
}
