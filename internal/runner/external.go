package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Dialer is a [World] in which an external lock with its own client can connect to nodes. See
// [Backend.Dialable].
type Dialer interface {
	World

	// Dial connects a client to a node. The connection is paused while the client is
	// paused, and closed when the run ends.
	Dial(ctx context.Context, client, node int) (net.Conn, error)

	// Wall reads the wall clock of a client's machine.
	Wall(client int) time.Time
}

// External is a lock that is not part of this program. It talks to the nodes over its own
// connections and uses the machine's clock.
type External struct {
	// Name is its name in scenarios and histories.
	Name string

	// Build makes one client's lock before the run. A lock that is an [io.Closer] is
	// closed after the run, before the world is.
	Build func(ClientEnv) (Lock, error)

	// Capacity is the number of permits of each resource: see [history.Header.Capacity]. If it is more than 1, keys are
	// not judged where a watch reports them, because several holds may share one, such as a counter, nor where
	// callers share a lock, because several of them may hold it at once.
	Capacity int

	// Connected says that a hold may belong to a connection of the client to a store. The
	// servers then close the connections of a client that has been cut off for the TTL.
	Connected bool

	// Callers is how many clients of the scenario share a lock: those of lock 1 come first. Faults
	// that cut off, delay or pause connections of a lock are those of the first of its clients. 0 and
	// 1 mean that each client has its own.
	Callers int

	// WallClock says that the lock reads a wall clock of its client, which faults step. They change neither
	// its rate nor the other clocks.
	WallClock bool
}

// ClientEnv is what one client's external lock is built on.
type ClientEnv struct {
	Client  int // its number
	Sharing int // the number of the lock, which clients may share
	Nodes   int // how many there are
	Runtime env.Runtime

	// Observer has to be called for each step of [ExternalSteps].
	Observer env.Observer

	// Dial connects the client to a node.
	Dial func(ctx context.Context, node int) (net.Conn, error)

	// Wall reads the wall clock of the client's machine.
	Wall func() time.Time

	// Process is for a lock in a process of its own. nil: the world's nodes have no addresses.
	Process *ProcessEnv
}

// ExternalSteps lists the steps that are known of an external lock and of the work under
// it. Faults can wait for these steps.
func ExternalSteps() []env.Step {
	return []env.Step{
		env.StepAcquire, env.StepGranted, env.StepRefused,
		env.StepExtend, env.StepExtended, env.StepExtendFailed, env.StepLost,
		env.StepBeforeRelease, env.StepReleased,
		env.StepBeforeRead, env.StepAfterRead, env.StepBeforeWrite, env.StepAfterWrite,
	}
}

// PrepareExternal is [Prepare] for a scenario with an external lock. It returns an
// [UnfitError] if the backend is not [Backend.Dialable], or if the plan has a fault that
// external locks do not support (see [UnsupportedFault]). A generator draws no such
// faults. If the backend records keys, every key that a client sets counts as a key of its
// lock. If the setting has a store, the lock is kept there, and the backend has to run its
// servers.
func PrepareExternal(b Backend, s scenarios.Scenario, lock External) (Experiment, error) {
	if !b.Dialable || b.ClientProcesses {
		return Experiment{}, &UnfitError{"lock.kind", fmt.Errorf("%s is no lock of this program, and the %s backend has none but these", lock.Name, b.Name)}
	}
	s.Lock.Kind = lock.Name
	open := b.OpenExternal
	if open == nil {
		open = b.Open
	}
	watched := b.Watched
	b.Open = func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error) {
		if lock.Callers > 1 {
			sink = &callerLinks{next: sink, nodes: s.Nodes, share: lock.Callers, down: map[link]int{}}
		}
		return open(ctx, s, seed, newAliases(sink, watched, lock.Callers))
	}
	e, err := prepare(b, s, func(string) (lockKind, error) { return lock.kind(s.Store != nil), nil })
	if err != nil {
		return Experiment{}, err
	}
	for i := range s.Plan {
		if err := lock.unsupported(s.Plan[i]); err != nil {
			return Experiment{}, &UnfitError{fmt.Sprintf("plan[%d]", i), err}
		}
	}
	if e.generator != nil {
		g := e.generator.Admitting(func(f nemesis.Fault) bool { return lock.unsupported(f) == nil })
		e.generator = &g
	}
	return e, nil
}

// UnsupportedFault returns why a fault cannot affect an external lock in this process on any backend, or
// nil. Such a lock reads the clock of package time, which is the same for all clients and
// cannot be changed, unless [External.WallClock] says otherwise; it draws random numbers and names keys
// itself; and some of its steps are unknown.
func UnsupportedFault(f nemesis.Fault) error { return External{}.unsupported(f) }

func (l External) unsupported(f nemesis.Fault) error {
	e := f.Action.Effects(nemesis.Setting{})
	if e.Clock.Machine.Client != 0 && !(l.WallClock && e.Clock.OnlySteps()) {
		return fmt.Errorf("a lock that is not of this program reads the clock of the machine, which %s of a client cannot change", f.Action.Kind())
	}
	switch {
	case e.Does.Any(nemesis.Clones):
		return errors.New("a lock that is not of this program draws its random numbers by itself, which no clone can share")
	case nemesis.Plan{f}.AsksFor(nemesis.OneKeyFeature):
		return fmt.Errorf("a lock that is not of this program names its keys by itself: no %s knows which one to take", f.Action.Kind())
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

// kind returns the lock kind of an external lock. Its parameters are not interpreted.
func (f External) kind(inStore bool) lockKind {
	k := lockKind{
		name: f.Name, what: "a lock that is not of this program",
		external: true, connected: inStore && f.Connected, callers: f.Callers, capacity: f.Capacity,
	}
	if !inStore {
		k.quorum = func(scenarios.Lock) env.Quorum { return env.Quorum{} }
	}
	return withBuilder(k, func(scenarios.Lock) noConfig { return noConfig{} }, func(_ noConfig, p ports) (Lock, error) {
		if p.dial == nil {
			return nil, errors.New("the world's nodes cannot be dialled")
		}
		return f.Build(ClientEnv{p.client, (p.client-1)/max(f.Callers, 1) + 1, p.members, p.runtime, p.observer, p.dial, p.wall, p.process})
	})
}

// sharer is a hold that may leave permits to others.
type sharer interface{ Shared() bool }

// shared reports whether others may hold the resource beside the hold.
func shared(h Hold) bool {
	s, may := h.(sharer)
	return may && s.Shared()
}

// noConfig is the configuration of an external lock.
type noConfig struct{}

func (noConfig) Validate() error { return nil }

// connectedAs returns the client by whose number the connections of a client's lock are made: the first of
// those that share it.
func (k lockKind) connectedAs(client int) int { return client - (client-1)%max(k.callers, 1) }

// wallFunc returns a function that reads a client's wall clock, or nil if the world is not a [Dialer].
func wallFunc(world Environment, client int) func() time.Time {
	d, ok := world.(Dialer)
	if !ok {
		return nil
	}
	return func() time.Time { return d.Wall(client) }
}

// dialFunc returns a function with which a client connects to nodes, or nil if the world
// is not a [Dialer].
func dialFunc(world Environment, client int) func(context.Context, int) (net.Conn, error) {
	d, ok := world.(Dialer)
	if !ok {
		return nil
	}
	return func(ctx context.Context, node int) (net.Conn, error) { return d.Dial(ctx, client, node) }
}

// close closes the client's lock if it is an [io.Closer].
func (u *user) close() error {
	if c, ok := u.lock.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// whileCalled returns a context that also ends with that of the client's caller. The returned function ends it.
func (u *user) whileCalled(ctx context.Context) (context.Context, func()) {
	working, stop := context.WithCancel(ctx)
	unlink := context.AfterFunc(u.caller, stop)
	return working, func() { unlink(); stop() }
}
