package runner

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend makes worlds of one kind: simulated, or with one kind of real servers.
type Backend struct {
	// Ability is the backend's name and the faults that its worlds support.
	nemesis.Ability

	// Exact says that a run follows from its seed alone: runs can go side by side, and any
	// can be repeated.
	Exact bool

	// Keys says that its worlds record every change of the nodes' keys, and of a store's
	// entries. Watched: they record changes when a watch reports them.
	Keys, Watched bool

	// OpenExternal opens worlds for locks that are not of this program. nil: Open does.
	OpenExternal OpenFunc

	// InStore returns the backend for settings whose nodes replicate a store of that product.
	// nil: it has none.
	InStore func(product string) (b Backend, ok bool)

	// Product is the product of the store on whose servers it runs. Empty: none.
	Product string

	// ClientProcesses says that clients run in processes of their own: its worlds are
	// [ProcessWorld]s.
	ClientProcesses bool

	// Dialable says that external locks can run on it: its worlds are [Dialer]s.
	Dialable bool

	// Idle says that a run mostly waits, so that four runs can share a core. Other runs
	// keep a core busy.
	Idle bool

	// Alone says that runs disturb each other, so that a suite makes one at a time.
	Alone bool

	Open OpenFunc

	// Drivable says that runs can take a course: its worlds are [Driven].
	Drivable bool

	// Versions returns the versions of what its runs use besides this program. It may be
	// nil.
	Versions func() map[string]string
}

// OpenFunc builds the world of a valid setting with faults that the backend supports.
// Everything random in the world follows from the seed. The world's history goes to sink,
// one event at a time.
type OpenFunc func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error)

// Opener makes an [OpenFunc] of a backend's own function, which need not know this
// package.
func Opener[W World](open func(context.Context, nemesis.Setting, uint64, history.Sink) (W, error)) OpenFunc {
	return func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error) {
		w, err := open(ctx, s, seed, sink)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// Environment is what clients use of a world. Clients are numbered from 1. Values that
// belong to one client are used by that client only.
type Environment interface {
	// Runtime, Nodes and Register are the client's view of the world.
	Runtime(client int) env.Runtime
	Nodes(client int) env.Nodes
	Register(client int) env.Register

	// Store is the client's view of the store that the nodes replicate, or nil.
	Store(client int) env.Store

	// Record stamps the event with the ground clock and writes it into the
	// history. After the end of the run it does nothing.
	Record(e history.Event)

	// Reach reports a step of a client to the fault plan; k is the position of the reply
	// at env.StepReply. Faults that wait for this step begin or end before Reach returns.
	// If they pause or kill the client, Reach returns when the client resumes, or never.
	Reach(client int, step env.Step, k int)

	// Watch requests a lapse event for the time at which the client's clock first reaches
	// until. It replaces an earlier request for the same token. Unwatch cancels the
	// request, unless it is due.
	Watch(client int, clock env.Clock, resource, token string, until env.Instant)
	Unwatch(client int, token string)

	// Call returns the context for a call of the client's lock that begins now, and a
	// function to be called when the call has returned. The context ends with ctx, or when
	// a fault cancels the call. A client makes one call at a time.
	Call(ctx context.Context, client int) (calling context.Context, returned func())
}

// World runs an experiment, once.
type World interface {
	Environment

	// Run runs main for every client and carries out the plan. It returns when all clients
	// that still can have returned, at the horizon, or when ctx ends (with its error), and
	// closes the history with an end event. An error says that the plan could not be
	// carried out or that the world failed.
	Run(ctx context.Context, main func(client int)) error

	// Trace returns a hash of everything that happened. exact says that a run with the
	// same seed must have the same hash.
	Trace() (hash uint64, exact bool)

	// SchedulingLag returns by how much events came later than planned in the run, at
	// most; 0 in virtual time. A run with too much lag says nothing, because its plan may
	// not have been carried out.
	SchedulingLag() time.Duration

	// Close releases everything that the world has made.
	Close() error
}

// Driven is a [World] in which a driver can make the choices, in place of the seed.
type Driven interface {
	World

	// Drive has to be called before Run.
	Drive(choice.Grain, choice.Driver)

	// Events returns the number of events so far, the same on every machine.
	Events() int
}

// ProcessWorld is a [World] that can run its clients in processes of their own.
type ProcessWorld interface {
	World

	// RunProcesses is like Run. Each client's process gets the brief, from which
	// [ClientMain] makes the client's program.
	RunProcesses(ctx context.Context, brief []byte) error
}
