package nemesis

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
)

// Setting is the world that a plan is made for.
type Setting struct {
	// Nodes is the number of independent nodes, 1 to [env.MaxNodes].
	Nodes int `yaml:"nodes"`

	// Persistence is what every node keeps when its server goes down.
	Persistence Persistence `yaml:"persistence"`

	// Sync is how long it takes to sync a write to the disk, where the backend
	// makes the disk. Under [Always] each change is answered after that, and
	// the node's later commands wait behind it. nil: no time.
	Sync *Distribution `yaml:"sync,omitempty"`

	// Replication is how long a change takes to reach the asynchronous replica
	// of its node, where the backend makes the replica; changes arrive in
	// their order. nil: no node has a replica.
	Replication *Distribution `yaml:"replication,omitempty"`

	// Store is a store that the nodes replicate, where the backend makes one. nil:
	// there is none.
	Store *Store `yaml:"store,omitempty"`

	// Clients is the number of lock users. In a file it is the length of the
	// list of clients.
	Clients int `yaml:"-"`

	// Latency is how long a message takes one way, where the backend makes
	// the network; real networks bring their own.
	Latency Distribution `yaml:"latency"`

	// Links are links with a latency of their own, as Latency where the
	// backend makes the network. Of two that name the same link and direction
	// the last counts.
	Links []LinkLatency `yaml:"links,omitempty"`

	// Connections is how requests travel, as Latency where the backend makes
	// the network.
	Connections Connections `yaml:"connections,omitempty"`

	// GuardLatency is how long a message takes one way to or from the guarded
	// resource, as Latency where the backend makes the network; nil means as
	// long as to a node.
	GuardLatency *Distribution `yaml:"guard_latency,omitempty"`

	// Guard is what the guarded resource checks.
	Guard guard.Mode `yaml:"guard,omitempty"`

	// Horizon is the longest that the run may last, on the ground clock.
	Horizon time.Duration `yaml:"horizon"`

	Plan Plan `yaml:"plan,omitempty"`
}

// Persistence is what a node writes to its disk, and when it syncs that. A dead
// process loses nothing that is written; a machine without power loses what is
// not synced.
type Persistence string

// The modes of persistence.
const (
	Nothing     Persistence = "none"         // no write
	EverySecond Persistence = "aof-everysec" // every write, synced once a second
	Always      Persistence = "aof-always"   // every write, synced before it is acknowledged
)

func (p Persistence) validate() error {
	if p != Nothing && p != EverySecond && p != Always {
		return fmt.Errorf("unknown persistence %q: want %s, %s or %s", p, Nothing, EverySecond, Always)
	}
	return nil
}

// Keeps says of a node whose server was down what it still has, for a story.
func (p Persistence) Keeps() string {
	if p == Nothing {
		return "without its keys"
	}
	return "with its keys"
}

// KeepsWithoutPower is what Keeps says after a loss of power.
func (p Persistence) KeepsWithoutPower() string {
	if p == EverySecond {
		return "with its keys as of its last sync"
	}
	return p.Keeps()
}

// Range is a uniform distribution of durations, both ends included.
type Range struct {
	Min time.Duration `yaml:"min"`
	Max time.Duration `yaml:"max"`
}

func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return fmt.Sprintf("%v to %v", r.Min, r.Max)
}

// Draw maps 64 random bits to a duration of the range.
func (r Range) Draw(random uint64) time.Duration {
	return r.Min + time.Duration(within(int64(r.Max-r.Min), random))
}

// Validate names the first of the bounds that cannot be.
func (r Range) Validate() error {
	switch {
	case r.Min < 0:
		return field("min", fmt.Errorf("%v is negative", r.Min))
	case r.Max < r.Min:
		return field("max", fmt.Errorf("%v is below min, %v", r.Max, r.Min))
	}
	return nil
}

// Validate returns a [FieldError] for the first value that cannot be.
func (s Setting) Validate() error {
	if err := Bounded(&s); err != nil {
		return err
	}
	switch {
	case s.Nodes < 1 || s.Nodes > env.MaxNodes:
		return field("nodes", fmt.Errorf("%d: want 1 to %d", s.Nodes, env.MaxNodes))
	case s.Clients < 1:
		return field("clients", errors.New("at least one is needed"))
	case s.Horizon <= 0:
		return field("horizon", fmt.Errorf("%v: a run needs time", s.Horizon))
	}
	if err := s.validateNetwork(); err != nil {
		return err
	}
	if err := s.Persistence.validate(); err != nil {
		return field("persistence", err)
	}
	if err := s.Sync.validate(); err != nil {
		return field("sync", err)
	}
	if err := s.Replication.validate(); err != nil {
		return field("replication", err)
	}
	if err := s.Store.validate(); err != nil {
		return field("store", err)
	}
	if err := s.Guard.Validate(); err != nil {
		return field("guard", err)
	}
	return field("plan", s.Plan.validate(s))
}
