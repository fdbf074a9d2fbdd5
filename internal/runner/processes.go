package runner

import "time"

// ProgramWorld is a [Dialer] that a client's own processes can connect to, and whose faults of
// clients act on them.
type ProgramWorld interface {
	Dialer

	// Addrs returns the addresses, as host:port, at which a client finds the nodes, in order.
	// nil: a process cannot connect to them.
	Addrs(client int) []string

	// Dialled reports whether anybody has connected to a node at the client's address of it.
	Dialled(client, node int) bool

	// SharedValue says which calls have sent the same value for a key, so that nobody knows whose it is, or "".
	SharedValue() string

	// SetsClock reports whether a fault of the plan changes the client's clock.
	SetsClock(client int) bool

	// Attach makes the faults of a client act on a process of it, too. It has to be called
	// before the run.
	Attach(client int, p ClientProcess)

	// Fail ends the run with an error.
	Fail(err error)
}

// ClientProcess is a process that does a part of what a client does. It is an alias, because worlds
// do not know this package.
type ClientProcess = interface {
	// Pause stops the process, and Resume lets it continue.
	Pause() error
	Resume() error

	// Kill ends the process at once, as a fault does.
	Kill()

	// SetClock makes the wall clock of the process show so much more than the machine's from now on.
	SetClock(ahead time.Duration) error

	// Leave is called at the end of the run, before the world is closed: calls that wait for the
	// process have to return.
	Leave()
}

// ProcessEnv is what a client's lock in a process of its own is built on.
type ProcessEnv struct {
	Addrs     []string
	Dialled   func(node int) bool
	Shared    func() string // which calls have sent the same value for a key
	SetsClock bool          // a fault of the plan changes the wall clock of the process
	Attach    func(ClientProcess)
	Fail      func(error)
}

// processEnv returns what the process of a client can use, or nil if the world has no addresses
// for it.
func processEnv(world Environment, client int) *ProcessEnv {
	w, ok := world.(ProgramWorld)
	if !ok {
		return nil
	}
	addrs := w.Addrs(client)
	if addrs == nil {
		return nil
	}
	return &ProcessEnv{
		Addrs:     addrs,
		Dialled:   func(node int) bool { return w.Dialled(client, node) },
		Shared:    w.SharedValue,
		SetsClock: w.SetsClock(client),
		Attach:    func(p ClientProcess) { w.Attach(client, p) },
		Fail:      w.Fail,
	}
}
