package live

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Fleet describes the servers of a world.
type Fleet struct {
	// Servers are the nodes' servers, by node, from 0.
	Servers []Server

	// Runtime is the machine of this world: the ground clock, and the clocks of clients and nodes
	// that no fault has changed, come from it. nil is the machine of this program.
	Runtime env.Runtime

	// Network makes the links of clients to the servers. nil means proxies on loopback,
	// whose latency is real. Any other network has the latency of the setting.
	Network func(clients int) *wire.Network

	// Store is the store that the servers replicate. nil: they are Redis servers, each of
	// which answers for itself.
	Store Store

	// Peers is how the servers reach each other, for [PeerPartitions].
	Peers Peers

	// Keys is called before anything is sent to the nodes. Each change of the nodes' keys
	// is then reported with tell: the event, and when the request was sent that caused it,
	// by Runtime. nil means that changes are not known.
	Keys func(tell func(e history.Event, sent env.Instant))

	// Watch watches the entries of the store from before the run, past the clients' links, and
	// records their changes until ctx ends. nil means that changes are not known.
	Watch func(ctx context.Context, log EntryLog)

	// WatchKeys says that the keys of the nodes are watched, past the clients' links, and their
	// changes recorded. The servers are of Redis.
	WatchKeys bool

	// External says that the lock is not of this program: whose a key is follows from what the clients
	// send. Otherwise keys have the tokens of tries.
	External bool

	// Died delivers an error when a server has died and no fault killed it. It may be nil.
	Died <-chan error

	// Close stops the servers, or releases them. Nobody uses them any more.
	Close func() error
}

// NewFleet returns a fleet of servers of any type.
func NewFleet[S Server](servers []S, died <-chan error, closing func() error) Fleet {
	f := Fleet{Died: died, Close: closing}
	for _, s := range servers {
		f.Servers = append(f.Servers, s)
	}
	return f
}

// network makes the links of clients.
func (f Fleet) network(clients int) (*wire.Network, error) {
	if f.Network != nil {
		return f.Network(clients), nil
	}
	addrs := make([]string, len(f.Servers))
	for i, server := range f.Servers {
		addrs[i] = server.Addr()
	}
	return wire.Open(clients, addrs)
}

// Server is a node's server. The interfaces that its type implements say which faults
// it supports: a [Crasher] can be killed.
type Server interface {
	// Addr is its host:port. It stays the same over restarts.
	Addr() string
}

// Crasher is a server that can be killed, or shut down, and started.
type Crasher interface {
	// Kill kills the server, and returns when the process is gone.
	Kill()

	// Quit shuts the server down cleanly, and returns when the process is gone.
	Quit()

	// Start starts the server again with the keys that it has kept, and returns when
	// it answers.
	Start(ctx context.Context) error
}

// Stopper is a server that can be stopped, as by SIGSTOP, and continued.
type Stopper interface {
	Stop() error
	Continue() error
}

// Commander is a server that accepts commands of the nemesis, over a connection that
// bypasses the clients' network.
type Commander interface {
	Do(ctx context.Context, command ...string) (reply any, err error)
}

// Predecessor is a member of a store that can make another one take its place.
type Predecessor interface {
	Commander

	// HandOver makes another member lead, with every change of this one, if this one leads. Its
	// clients are paused. It returns when this one follows.
	HandOver(ctx context.Context) error
}

// Clocked is a server whose wall clock can be set. From then on it is ahead of the
// machine's clock, and runs ppm parts per million too fast.
type Clocked interface {
	SetClock(ahead time.Duration, ppm int64) error
}

// Powered is a server on a machine that can lose power.
type Powered interface {
	Crasher

	// LosePower ends the server, which keeps what was on its disk.
	LosePower(aof.Loss) error
}

// Syncer is a [Powered] server that syncs its writes once a second where the setting's persistence
// says so.
type Syncer interface {
	Powered

	// SyncFrom makes the server sync its writes to the disk once a second, starting at
	// phase. Only the first call counts.
	SyncFrom(phase time.Duration)
}

// Refuser is a [Powered] server that can be made to refuse a torn file.
type Refuser interface {
	Powered

	// Refuse starts the server with aof-load-truncated no, and returns when it has refused
	// its file and is gone. It is an error if it does not.
	Refuse(ctx context.Context) error
}

// Restorer is a server that can be restored to an earlier state.
type Restorer interface {
	Crasher

	// Restore ends the server. Its next start finds the state of age ago.
	Restore(age time.Duration) error
}

// Rewinder is a server whose memory can be restored to an earlier state while it runs.
type Rewinder interface {
	Stopper

	// Rewind gives a stopped server the keys that it had then, and continues it, with the
	// same run id.
	Rewind(ctx context.Context, then time.Time) error
}

// Peers is how the members of a store reach each other.
type Peers interface {
	// Cut cuts the links between members, numbered from 1, that the fault keeps apart. What is
	// sent over a cut link is held back.
	Cut(apart *nemesis.PeerPartition)

	// Mend restores all links.
	Mend()
}
