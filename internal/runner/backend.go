package runner

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Backend makes worlds of one sort.
type Backend struct {
	// Ability is its name, and what its worlds can carry out.
	nemesis.Ability

	// Exact says that a run follows from its seed alone, so that many can go
	// side by side and any can be repeated.
	Exact bool

	// Keys says that its worlds record every change of the nodes' keys.
	Keys bool

	// Stores says that its worlds have a store where the setting asks for one.
	Stores bool

	// ClientProcesses says that clients run in processes of their own: its worlds are [ClientProcesses].
	ClientProcesses bool

	// Dialable says that locks which are not of this program can run on it: its worlds
	// are [Dialable].
	Dialable bool

	// Idle says that a run waits for most of its time, so that two share a core. A run that
	// does not keeps one busy.
	Idle bool

	// Nodes is the largest number of nodes that its worlds have; 0: as many as anybody
	// wants.
	Nodes int

	Open OpenFunc

	// Versions tells what a run on it is made with, beside this program; nil: nothing
	// else.
	Versions func() map[string]string
}

// OpenFunc builds the world of a setting that is valid and asks for no other
// faults than the backend's. Everything random in it follows from the seed.
// The world's history goes to sink, one event at a time.
type OpenFunc func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error)

// Opener makes an [OpenFunc] out of a backend's own function, which returns a
// type of its own because it need not know this package.
func Opener[W World](open func(context.Context, nemesis.Setting, uint64, history.Sink) (W, error)) OpenFunc {
	return func(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (World, error) {
		w, err := open(ctx, s, seed, sink)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// Environment is what clients have of a world. They are numbered from 1; what belongs to one
// client is used by that client only.
type Environment interface {
	// Runtime, Nodes and Register are what client has of the world.
	Runtime(client int) env.Runtime
	Nodes(client int) env.Nodes
	Register(client int) env.Register

	// Store is what client has of the store that the nodes replicate; nil: there is
	// none.
	Store(client int) env.Store

	// Record stamps the event with the ground clock and writes it into the
	// history. After the end of the run it does nothing.
	Record(e history.Event)

	// Reach tells that client takes a step, k being the position of the reply
	// at env.StepReply. Faults that wait for this step begin or end before
	// Reach returns, and a client that is paused or killed by them stays in
	// it.
	Reach(client int, step env.Step, k int)

	// Watch asks for a lapse event at the instant at which the client's clock
	// first comes to until; it replaces what was asked for that token before.
	// Unwatch withdraws it, unless it has come due.
	Watch(client int, clock env.Clock, resource, token string, until env.Instant)
	Unwatch(client int, token string)

	// Call returns the context for a call of the client's lock that begins
	// now, which ends with ctx or when a fault cancels the call, and what to do
	// when the call has returned. A client makes one call at a time.
	Call(ctx context.Context, client int) (calling context.Context, returned func())
}

// World is one place where an experiment runs, once.
type World interface {
	Environment

	// Run lets every client run main and carries out the plan. It returns
	// when all clients that still can have returned, when the horizon has
	// come or when ctx ends (with its error), and closes the history with an
	// end event. An error says that the plan could not be carried out or that
	// the world broke.
	Run(ctx context.Context, main func(client int)) error

	// Trace is a hash of everything that happened, if a run with the same
	// seed must have the same.
	Trace() (hash uint64, exact bool)

	// SchedulingLag is by how much things came later than they were due in the run, at most; 0
	// in virtual time. Of a run that slipped nobody can say whether its plan was
	// carried out.
	SchedulingLag() time.Duration

	// Close takes back everything that the world has made.
	Close() error
}

// EventCounter is a [World] that counts what it does, so that its runs can be bounded alike on
// every machine.
type EventCounter interface {
	// Events returns how many events there have been.
	Events() int
}

// ProcessWorld is a [World] that can let its clients run in processes of their own.
type ProcessWorld interface {
	World

	// RunProcesses is Run, where each client's process is given the brief, from which
	// [Client] makes what the client does.
	RunProcesses(ctx context.Context, brief []byte) error
}
