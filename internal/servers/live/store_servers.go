package live

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/nemesis"
	"golang.org/x/mod/semver"
)

// StoreServers says how the servers of a replicated store are run on this machine. It is a backend for
// settings whose nodes are the members of such a store.
type StoreServers struct {
	Product  string // its name in scenarios
	Port     int    // on which its servers usually listen
	MaxNodes int    // 0: no limit

	// Clients are the kinds of clients of these servers. Processes of clients find theirs by its name.
	Clients []Store

	// Handlers lists how each kind of fault is injected.
	Handlers FaultHandlers

	// Start starts the servers of a setting. After an error nothing is left behind.
	Start func(ctx context.Context, s nemesis.Setting, seed uint64) (Fleet, error)

	// WithRedis returns the servers with the redis-server of that path. nil: they are not of Redis.
	WithRedis func(binary string) *StoreServers

	// Version returns the version of the installed servers, or "" if there are none. Oldest is the
	// first one with what is used of them.
	Version func(ctx context.Context) string
	Oldest  string

	// Watched: a watch records the changes of entries in the history. See [Fleet].
	Watched bool

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

// Ability says which faults its worlds can inject.
func (s *StoreServers) Ability() nemesis.Ability {
	return nemesis.Ability{Name: "process", Kinds: s.Handlers.Kinds(), Features: s.Handlers.Features()}
}

// Open starts the servers and opens a world on them. The setting must be valid, and must not need
// other faults than those listed. Events of the history go to sink one at a time. ctx bounds the
// start only. After an error nothing is left behind.
func (s *StoreServers) Open(ctx context.Context, setting nemesis.Setting, seed uint64, sink history.Sink) (*World, error) {
	fleet, err := s.Fleet(ctx, setting, seed)
	if err != nil {
		return nil, err
	}
	return Open(setting, seed, sink, fleet, s.Handlers)
}

// Fleet starts the servers. If they do not start because they are too old, the error says so. The
// version is read only then, because that takes a second of a JVM.
func (s *StoreServers) Fleet(ctx context.Context, setting nemesis.Setting, seed uint64) (Fleet, error) {
	fleet, err := s.Start(ctx, setting, seed)
	if err != nil {
		err = cmp.Or(s.tooOld(ctx), err)
	}
	return fleet, err
}

// tooOld returns an error if the installed servers lack something that is used of them.
func (s *StoreServers) tooOld(ctx context.Context) error {
	if s.Version == nil {
		return nil
	}
	version := s.Version(ctx)
	if version == "" || semver.Compare("v"+version, "v"+s.Oldest) >= 0 {
		return nil
	}
	return fmt.Errorf("%s %s is too old: want %s or newer", s.Product, version, s.Oldest)
}

// Unwatched returns the servers for locks that have a client of the store themselves, and connect
// it by [World.Dial]. Changes of entries are not recorded, because nobody knows how such a lock names
// them.
func (s *StoreServers) Unwatched() *StoreServers {
	unwatched := *s
	unwatched.Watched = false
	unwatched.Start = func(ctx context.Context, setting nemesis.Setting, seed uint64) (Fleet, error) {
		fleet, err := s.Start(ctx, setting, seed)
		fleet.Watch = nil
		return fleet, err
	}
	return &unwatched
}

// StartStore makes a fleet of the servers of a store, which start adds to a group and
// starts, with the links between them, also after an error. watch returns what watches their entries:
// see [Fleet]. nil: nothing does. After an error nothing is left behind.
func StartStore[S Server](store Store, start func(*child.Group) ([]S, PeerLinks, error), watch func([]S) func(context.Context, EntryLog)) (Fleet, error) {
	group, err := child.NewGroup()
	if err != nil {
		return Fleet{}, err
	}
	servers, peers, err := start(group)
	closing := func() error { // the servers first: they would dial again
		defer peers.Close()
		return group.Close()
	}
	if err != nil {
		_ = closing()
		return Fleet{}, err
	}
	fleet := NewFleet(servers, group.Died(), closing)
	fleet.Store, fleet.Peers = store, peers
	if watch != nil {
		fleet.Watch = watch(servers)
	}
	return fleet, nil
}
