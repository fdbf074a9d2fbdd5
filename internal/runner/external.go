package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Dialer is a [World] whose nodes can be dialled, by a lock that has a Redis client of its
// own. See [Backend.Dialer].
type Dialer interface {
	World

	// Dial connects a client to a node. The connection stands still while the client
	// does, and is closed with the run.
	Dial(ctx context.Context, client, node int) (net.Conn, error)
}

// External is a lock that is not kept here: it talks to the nodes by connections of its own,
// and waits by the machine's clock.
type External struct {
	// Name is what scenarios and histories call it.
	Name string

	// Build makes one client's lock, before the run. A lock that is an [io.Closer] is
	// closed behind the run, before the world is.
	Build func(ClientEnv) (Lock, error)
}

// ClientEnv is what one client's foreign lock is built on.
type ClientEnv struct {
	Client  int // its number
	Nodes   int // how many there are
	Runtime env.Runtime

	// Observer has to hear of each step that [ForeignSteps] lists, as it hears of those
	// of our own locks.
	Observer env.Observer

	// Dial connects the client to a node.
	Dial func(ctx context.Context, node int) (net.Conn, error)
}

// ExternalSteps are the steps of a lock of whose inner life nobody here knows, with those of
// the work under it: those for which a fault can wait.
func ExternalSteps() []env.Step {
	return []env.Step{
		env.StepAcquire, env.StepGranted, env.StepRefused,
		env.StepExtend, env.StepExtended, env.StepExtendFailed, env.StepLost,
		env.StepBeforeRelease, env.StepReleased,
		env.StepBeforeRead, env.StepAfterRead, env.StepBeforeWrite, env.StepAfterWrite,
	}
}

// PrepareExternal is [Prepare] for a scenario whose lock is a foreign one. It refuses, by an
// [UnfitError], a backend whose nodes cannot be dialled and faults that such a lock cannot
// be given, see [UnsupportedFault]; a generator draws none of these. Where the backend records keys,
// those that a client sets are taken for its lock's.
func PrepareExternal(b Backend, s scenarios.Scenario, lock External) (Experiment, error) {
	if !b.Dialable || b.ClientProcesses {
		return Experiment{}, &UnfitError{"lock.kind", fmt.Errorf("%s is no lock of this program, and the %s backend has none but these", lock.Name, b.Name)}
	}
	s.Lock.Kind = lock.Name
	open := b.Open
	b.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error) {
		return open(ctx, s, seed, newAliases(sink))
	}
	e, err := prepare(b, s, func(string) (lockKind, error) { return lock.kind(), nil })
	if err != nil {
		return Experiment{}, err
	}
	for i := range s.Plan {
		if err := UnsupportedFault(s.Plan[i]); err != nil {
			return Experiment{}, &UnfitError{fmt.Sprintf("plan[%d]", i), err}
		}
	}
	if e.generator != nil {
		g := e.generator.Admitting(func(f nemesis.Fault) bool { return UnsupportedFault(f) == nil })
		e.generator = &g
	}
	return e, nil
}

// UnsupportedFault says why a fault cannot befall a foreign lock, whatever the backend, if it cannot:
// the clock that such a lock reads is that of package time, which is one for all clients and
// which nobody can change, its random numbers and the names of its keys are its own affair,
// and some steps are never heard of.
func UnsupportedFault(f nemesis.Fault) error {
	if changesClientClock(f.Action) {
		return fmt.Errorf("a lock that is not of this program reads the clock of the machine, which %s of a client cannot change", f.Action.Kind())
	}
	switch a := f.Action.(type) {
	case *nemesis.Clone:
		return errors.New("a lock that is not of this program draws its random numbers by itself, which no clone can share")
	case *nemesis.Evict:
		if a.Resource != "" {
			return fmt.Errorf("a lock that is not of this program names its keys by itself: no evict knows which is that of %s", a.Resource)
		}
	}
	for _, m := range []*nemesis.Trigger{&f.Start, f.End} {
		if m == nil || m.Step == "" {
			continue
		}
		if step, err := env.ParseStep(string(m.Step)); err == nil && !slices.Contains(ExternalSteps(), step) {
			return fmt.Errorf("a lock that is not of this program is not heard of at the step %q: there is %v", m.Step, ExternalSteps())
		}
	}
	return nil
}

// changesClientClock reports whether a fault makes some clock of a client another than the
// world's.
func changesClientClock(a nemesis.Action) bool {
	switch a.(type) {
	case *nemesis.Suspend, *nemesis.Snapshot:
		return true
	}
	return nemesis.Plan{{Action: a}}.AsksFor(nemesis.ClientClockFeature)
}

// kind is what an experiment knows of the lock: what its parameters mean is its own affair.
func (f External) kind() lockKind {
	return withBuilder(lockKind{
		name: f.Name, what: "a lock that is not of this program",
		quorum: func(scenarios.Lock) env.Quorum { return env.Quorum{} },
	}, func(scenarios.Lock) noConfig { return noConfig{} }, func(_ noConfig, p ports) (Lock, error) {
		if p.dial == nil {
			return nil, errors.New("the world's nodes cannot be dialled")
		}
		return f.Build(ClientEnv{p.client, p.members, p.runtime, p.observer, p.dial})
	})
}

// noConfig is the configuration of a lock of which nothing is known.
type noConfig struct{}

func (noConfig) Validate() error { return nil }

// dialFunc returns how a client dials the nodes of a place; nil: it cannot.
func dialFunc(place Environment, client int) func(context.Context, int) (net.Conn, error) {
	d, ok := place.(Dialer)
	if !ok {
		return nil
	}
	return func(ctx context.Context, node int) (net.Conn, error) { return d.Dial(ctx, client, node) }
}

// close closes the lock of a client that has something to close.
func (u *user) close() error {
	if c, ok := u.lock.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
