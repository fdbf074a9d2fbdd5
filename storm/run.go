package storm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Result is what one run has shown.
type Result struct {
	// Scenario is what was run: what its generator drew is in its plan.
	Scenario scenarios.Scenario
	Backend  string
	Seed     uint64

	// Report is what the judges found in the history.
	Report checker.Report

	// TraceHash is the hash of everything that happened, where a repetition
	// must have the same; otherwise 0.
	TraceHash uint64

	// Interrupted says that the run was stopped before its end.
	Interrupted bool
}

// AsExpected reports whether this run alone shows what its scenario expects. One
// that was cut short does not.
func (r Result) AsExpected() bool {
	return !r.Interrupted && r.Report.Cut == "" && !slices.ContainsFunc(r.Report.Findings, func(f checker.Finding) bool {
		expected, stated := r.Scenario.Expect[f.Property]
		return stated && expected != checker.Unknown && f.Verdict != expected || !stated && f.Verdict == checker.Violated
	})
}

// Contradicts reports whether this run shows what no further run can mend: a
// violation that was not expected, or, where something was expected to hold or
// to say nothing, a verdict that is neither that nor unknown.
func (r Result) Contradicts() bool {
	return slices.ContainsFunc(r.Report.Findings, func(f checker.Finding) bool {
		expected, stated := r.Scenario.Expect[f.Property]
		switch {
		case expected == checker.Unknown, f.Verdict == checker.Unknown, f.Verdict == expected:
			return false
		case f.Verdict == checker.Violated:
			return true
		}
		return stated && expected != checker.Violated
	})
}

// Prepare checks that a scenario can be run on a backend, without starting
// anything.
func Prepare(b Backend, s scenarios.Scenario) error {
	if err := s.Validate(); err != nil {
		return err
	}
	kind, err := findLock(s.Lock.Kind)
	if err != nil {
		return &nemesis.FieldError{Path: "lock.kind", Err: err}
	}
	for i, c := range s.Clients {
		if _, err := findWorkload(c.Workload); err != nil {
			return &nemesis.FieldError{Path: fmt.Sprintf("clients[%d].workload", i), Err: err}
		}
	}
	if err := kind.fits(b, s); err != nil {
		return err
	}
	if err := refused(b, s.Plan); err != nil {
		return err
	}
	_, err = generator(b, s)
	return err
}

// refused says which fault of a plan the backend cannot carry out, with its place.
func refused(b Backend, p nemesis.Plan) error {
	err := nemesis.Refuse(b.Name, b.Faults, p, b.Features...)
	var r *nemesis.RefusedError
	if errors.As(err, &r) {
		return &nemesis.FieldError{Path: fmt.Sprintf("plan[%d].%s", r.Fault-1, r.Kind), Err: err}
	}
	return err
}

// Header returns what the judges of a run must know beside its events.
func Header(b Backend, s scenarios.Scenario, seed uint64) history.Header {
	h := history.Header{
		Format:     history.Format,
		Version:    history.Version,
		Scenario:   s.Name,
		Lock:       s.Lock.Kind,
		Backend:    b.Name,
		Seed:       seed,
		Nodes:      s.Nodes,
		Clients:    len(s.Clients),
		LongestTTL: s.Lock.TTL,
		Keys:       b.Keys,
		Bounds:     s.Bounds,
	}
	if kind, err := findLock(s.Lock.Kind); err == nil {
		kind.describe(&h, s.Lock)
	}
	return h
}

// Run runs a scenario once, with the plan that is [Drawn] for the seed, and
// judges it while it runs. The history goes to keep as well, unless that is
// nil. An error says that there was no proper run; when ctx ends the run is
// judged as far as it came.
func Run(ctx context.Context, b Backend, s scenarios.Scenario, seed uint64, keep history.Sink) (Result, error) {
	if err := Prepare(b, s); err != nil {
		return Result{}, err
	}
	s, err := Drawn(b, s, seed)
	if err != nil {
		return Result{}, err
	}
	panel := checker.NewPanel(Header(b, s, seed))
	sink := history.Sink(panel)
	if keep != nil {
		sink = history.Tee(keep, panel)
	}
	world, err := b.Open(ctx, s.Setting, seed, sink)
	if err != nil {
		return Result{}, err
	}
	result, err := drive(ctx, world, s)
	if closing := world.Close(); err == nil {
		err = closing
	}
	result.Scenario, result.Backend, result.Seed = judgeable(b, s), b.Name, seed
	result.Report = panel.Finish()
	return result, err
}

// judgeable returns the scenario without what it expects of properties that
// cannot be judged on the backend: without the nodes' keys there is no clean-up
// to see.
func judgeable(b Backend, s scenarios.Scenario) scenarios.Scenario {
	if !b.Keys && s.Expect != nil {
		s.Expect = maps.Clone(s.Expect)
		delete(s.Expect, checker.Cleanup)
	}
	return s
}

// drive lets the clients loose in the world.
func drive(ctx context.Context, world World, s scenarios.Scenario) (Result, error) {
	users := make([]*user, len(s.Clients))
	for i := range users {
		u, err := newUser(world, s, i+1)
		if err != nil {
			return Result{}, err
		}
		users[i] = u
	}
	err := world.Run(ctx, func(client int) { users[client-1].run() })
	var result Result
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		result.Interrupted, err = true, nil
	}
	if hash, exact := world.Trace(); exact {
		result.TraceHash = hash
	}
	return result, err
}

// newUser builds a client from its description.
func newUser(world World, s scenarios.Scenario, client int) (*user, error) {
	what := s.Clients[client-1]
	work, err := findWorkload(what.Workload)
	if err != nil {
		return nil, err
	}
	kind, err := findLock(s.Lock.Kind)
	if err != nil {
		return nil, err
	}
	r := &recorder{world: world, client: client, clock: s.Lock.ReadsClock()}
	lock, err := kind.build(s.Lock, r.counted(ports{client, world.Runtime(client), world.Nodes(client), world.Store(client), r}))
	if err != nil {
		return nil, err
	}
	return &user{
		what:     what,
		names:    resources(what),
		ttl:      s.Lock.TTL,
		workload: work,
		runtime:  world.Runtime(client),
		register: world.Register(client),
		recorder: r,
		lock:     lock,
	}, nil
}
