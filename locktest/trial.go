package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/clientlog"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// trial is a lock and how it is tested.
type trial struct {
	Config
	make    func(Env) Locker
	file    string // of the test
	budget  *budget
	defects external.Defects
}

// runResult is the result of one run.
type runResult struct {
	runner.Result
	traits  external.Capabilities
	did     external.Exercised
	idle    []int // nodes that no client connected to
	header  history.Header
	history history.Log

	clientLog []byte // what client libraries have logged
}

// run runs a scenario once. An error means that the run itself failed.
func (tr trial) run(t *testing.T, s scenarios.Scenario, seed uint64) (o runResult, err error) {
	u := external.NewUsage()
	tr.TTL = s.Lock.TTL // a storm may have another
	logged := new(clientlog.Log)
	shared := map[int]*sharedLock{}
	build := func(st runner.ClientEnv) (runner.Lock, error) { return tr.build(st, u, logged, shared) }
	e, err := runner.PrepareExternal(tr.world().Backend, s, tr.external(s, build))
	if err != nil {
		return o, err
	}
	o.header = e.Header(seed)
	o.Scenario, o.Plan, o.Seed = s, e.Plan(seed), seed // known even if there is no result
	var inside struct {
		result  runner.Result
		history history.Log
		did     external.Exercised
	}
	e = e.WithReader(inside.did.Reader())
	defer clientlog.Capture(logged, tr.world().within())()
	defer func() { o.clientLog = logged.Text() }()
	err = tr.world().enter(t, codeOf(tr.make), func(ctx context.Context) (err error) {
		inside.result, err = e.Run(ctx, seed, &inside.history)
		return err
	})
	if stalled(err) { // the run may still write its result
		return o, err
	}
	if o.history, o.did = inside.history, inside.did; err == nil {
		o.Result = inside.result
	} else {
		err = errors.Join(u.Unreturned(), err)
	}
	if o.traits, o.idle = u.Seen(s.Nodes); tr.Store.is() {
		o.idle = nil // the members replicate what a client asks one of them
	}
	if len(s.Clients) > tr.Clients {
		o.did.Shared = o.did.Grants
	}
	if u.ClockRead() {
		o.did.Clocks = 1
	}
	if keysUnrecorded(o.header, o.history) {
		o = o.withoutKeys()
	}
	if err == nil && o.Interrupted {
		err = errors.New("the run was stopped")
	}
	return o, cmp.Or(u.Misuse(), err, undialled(u))
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
