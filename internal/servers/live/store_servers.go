package live

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// StoreServers says how the servers of a replicated store are run for locks that have a client
// of the store themselves.
type StoreServers struct {
	Product  string // its name in scenarios
	Port     int    // on which its servers usually listen
	MaxNodes int    // 0: no limit

	// Handlers lists how each kind of fault is injected.
	Handlers FaultHandlers

	// Start starts the servers of a setting. After an error nothing is left behind.
	Start func(ctx context.Context, s nemesis.Setting, seed uint64) (Fleet, error)

	// Installed returns an error that says what to install if the servers are missing.
	Installed func() error

	// CheckTTL returns why locks of the store cannot have a time to live. nil: they can have any.
	CheckTTL func(ttl time.Duration) error

	// Asynchronous: a new leader can lack changes that the last one has answered. Commit is how
	// long a change takes to the others.
	Asynchronous bool
	Commit       nemesis.Range

	// Connected: a lock can belong to a connection, which the servers close when its client has
	// been cut off for the TTL.
	Connected bool
}

// Name returns the backend's name in stored runs.
func (*StoreServers) Name() string { return "process" }

// Faults lists the kinds of faults that its worlds can inject.
func (s *StoreServers) Faults() []nemesis.Kind { return s.Handlers.Kinds() }

// Features lists the features of those kinds that they support.
func (s *StoreServers) Features() []nemesis.Feature { return s.Handlers.Features() }

// Open starts the servers and opens a world on them. Its clients connect by [World.Dial]. Changes
// of entries are not recorded, because nobody knows how such a lock names them. The setting must
// be valid, and must not need other faults than those listed. After an error nothing is left
// behind.
func (s *StoreServers) Open(ctx context.Context, setting nemesis.Setting, seed uint64, sink history.Sink) (*World, error) {
	fleet, err := s.Start(ctx, setting, seed)
	if err != nil {
		return nil, err
	}
	fleet.Watch = nil
	return Open(setting, seed, sink, fleet, s.Handlers)
}
