package nemesis

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/form"
)

// Setting is the world that a plan is made for. Network, disks and store apply to simulated worlds;
// real servers have their own.
type Setting struct {
	// Nodes is the number of independent nodes.
	Nodes int `yaml:"nodes" want:"1..64"`

	// Persistence is the persistence of every node.
	Persistence Persistence `yaml:"persistence" want:"none|aof-everysec|aof-always"`

	// Sync is the time to sync a write to the disk. With aof-always each
	// change is answered after that, and the node's later commands wait for
	// it. Nothing: no time.
	Sync *Distribution `yaml:"sync,omitempty"`

	// Replication is the time that a change takes to reach the asynchronous replica
	// of its node; changes arrive in order. Nothing: no node has a replica.
	Replication *Distribution `yaml:"replication,omitempty"`

	// Store is a store that the nodes replicate, for the locks that need one.
	// Nothing: there is none.
	Store *Store `yaml:"store,omitempty"`

	// Clients is the number of lock users. In a file it is the length of the
	// list of clients.
	Clients int `yaml:"-"`

	// Latency is the one-way time of a message between a client and a node.
	Latency Distribution `yaml:"latency"`

	// Links are links with a latency of their own. If two entries name the same link
	// and direction, the last one counts.
	Links []LinkLatency `yaml:"links,omitempty"`

	// Connections is how requests travel.
	Connections Connections `yaml:"connections,omitempty"`

	// GuardLatency is the one-way time of a message to or from the guarded
	// resource. Nothing: as long as to a node.
	GuardLatency *Distribution `yaml:"guard_latency,omitempty"`

	// Guard is what the guarded resource checks. Nothing means plain.
	Guard guard.Mode `yaml:"guard,omitempty" want:"plain|fenced-writes|fenced|token"`

	// Horizon is the longest time of the run. It ends earlier when all
	// clients are done.
	Horizon time.Duration `yaml:"horizon" want:">0s.."`

	// MaxEvents is the number of events after which a simulated run ends; properties not violated
	// by then are unknown. Events are messages that arrive, timers, faults, and the clients'
	// actions. One acquire and release over 5 nodes takes about 100. 0 means 20 million.
	MaxEvents int `yaml:"max_events,omitempty" want:"0.."`

	// Plan is the faults and their times.
	Plan Plan `yaml:"plan,omitempty"`
}

// DefaultMaxEvents is the largest number of events of a run if the setting states none.
const DefaultMaxEvents = 20_000_000

// EventLimit returns the number of events after which a simulated run ends.
func (s Setting) EventLimit() int {
	if s.MaxEvents == 0 {
		return DefaultMaxEvents
	}
	return s.MaxEvents
}

// Persistence is what a node writes to its disk, and when it syncs it. A dead
// process loses nothing that is written; a machine without power loses what is
// not synced.
type Persistence string

// The modes of persistence.
const (
	Nothing     Persistence = "none"         // no write: a server that restarts is empty
	EverySecond Persistence = "aof-everysec" // every write, synced once a second
	Always      Persistence = "aof-always"   // every write, synced before it is acknowledged
)

// Persistences are all of them.
var Persistences = []Persistence{Nothing, EverySecond, Always}

// Keeps describes what a node still has after its server was down, for a story.
func (p Persistence) Keeps() string {
	if p == Nothing {
		return "without its keys"
	}
	return "with its keys"
}

// KeepsWithoutPower is Keeps after a loss of power.
func (p Persistence) KeepsWithoutPower() string {
	if p == EverySecond {
		return "with its keys as of its last sync"
	}
	return p.Keeps()
}

// Validate returns a [FieldError] for the first value that cannot be.
func (s Setting) Validate() error {
	if err := form.Check(&s); err != nil {
		return err
	}
	return s.ValidatePlan()
}

// ValidatePlan is [Setting.Validate] for values that are valid one by one. It is for callers that have
// checked a larger value.
func (s Setting) ValidatePlan() error {
	if s.Clients < 1 {
		return field("clients", errors.New("at least one is needed"))
	}
	if err := s.validateNumbers(s.Links); err != nil {
		return field("links", err)
	}
	if s.Store != nil && (s.Store.Durability == RemoteWrite || s.Store.Durability == Off) && s.Plan.Does(CutsPower) { // the simulator keeps no log for each node that it could cut
		return field("store.durability", fmt.Errorf("%s with the fault power-loss: what a node without power loses of a store is not modelled", s.Store.Durability))
	}
	return field("plan", s.Plan.validate(s))
}

// LinkLatency is the one-way time of a message over some links, in place of
// the scenario's latency.
type LinkLatency struct {
	Links `yaml:",inline"`

	Way Direction `yaml:"way,omitempty" want:"requests|replies"`

	// Latency is the one-way time of a message.
	Latency Distribution `yaml:"latency"`
}

// Connections is how the requests of a client travel to each node. Nothing means
// a connection for each request in progress, without a limit.
type Connections struct {
	// Limit is the largest number of requests of a client in progress to one node, 0
	// for any number; each has a connection to itself. Others wait for their
	// turn. A request that is given up while it waits is never sent. One that is
	// given up while in progress loses its connection, and so makes room
	// at once; it may still arrive.
	Limit int `yaml:"limit,omitempty" want:"0.."`

	// Pipelined gives a client one connection to each node. It
	// carries requests and replies in order: a late reply delays all that follow. The connection
	// outlasts requests that are given up.
	Pipelined bool `yaml:"pipelined,omitempty"`

	// Batched sends requests as package redisnode does with its default options: the next one alone while
	// a client has none in progress to a node, others together over one connection when those have ended, or
	// after 1 ms for each connection in use. A node that does not answer is sent one request at a time; others
	// fail at once, and are never sent.
	Batched bool `yaml:"batched,omitempty"`
}

// Consistent returns an error for ways to send requests that exclude each other.
func (c Connections) Consistent() error {
	switch {
	case c.Limit > 0 && c.Pipelined:
		return field("limit", errors.New("a pipelined connection has no limit: it is one, for all requests"))
	case c.Batched && (c.Limit > 0 || c.Pipelined):
		return field("batched", errors.New("batches have connections of their own: no limit, and no pipelined connection"))
	}
	return nil
}

// Store is a linearizable store that the nodes of a setting replicate. One of them leads. It works
// as long as a majority of the nodes runs; they keep what they have agreed on, whatever their
// persistence. Client c is initially connected to node c, and beyond the last node again from the
// first on; node 1 leads initially. Requests to a store travel like those to nodes, except that the
// setting's connections do not apply: no request waits for another.
type Store struct {
	// Election is the time from the loss of the leader, whose server goes
	// down or is paused, until another node leads.
	Election Distribution `yaml:"election"`

	// Commit is the time to replicate a change, before it is answered.
	Commit Distribution `yaml:"commit"`

	// Asynchronous makes the leader answer changes before they are replicated: one
	// node alone serves, and a new leader lacks what had not been replicated when
	// the old one was lost, like a database with an asynchronous replica.
	Asynchronous bool `yaml:"asynchronous,omitempty"`

	// Acknowledged is how many other nodes must have a change before its client counts the
	// answer, with asynchronous, as clients of Redis do by WAIT. Nothing means none.
	Acknowledged Acknowledged `yaml:"acknowledged,omitempty" want:"one|connected|cached"`

	// Durability is where a change is when the leader answers it. Nothing means flushed. With
	// asynchronous, no other node needs to have the change.
	Durability Durability `yaml:"durability,omitempty" want:"flushed|remote-write|off"`

	// Product is the store that the nodes run on a backend with real servers, such as
	// "etcd". Empty means the one that the lock was written for. The simulator models what
	// they have in common.
	Product string `yaml:"product,omitempty"`

	// KeepAlive is how long a real server keeps a connection whose client's machine does not
	// answer; 0: for ever. In a file it is the TTL of a lock that belongs to a connection.
	KeepAlive time.Duration `yaml:"-"`
}

// Acknowledged is a rule by which clients count the acknowledgements of other nodes. Each rule asks for none
// if no other node was connected when it counted.
type Acknowledged string

// The rules.
const (
	AcknowledgedByOne       Acknowledged = "one"       // one of the other nodes that are connected
	AcknowledgedByConnected Acknowledged = "connected" // all other nodes that are connected
	AcknowledgedByCached    Acknowledged = "cached"    // as many as were connected at the client's first change
)

// Of returns how many of the other nodes have to acknowledge a change: of those that are connected, and those that
// were at the client's first change.
func (a Acknowledged) Of(connected, first int) int {
	switch a {
	case AcknowledgedByOne:
		return min(1, connected)
	case AcknowledgedByCached:
		return first
	}
	return connected
}

// Consistent returns an error for acknowledgements of which nothing depends.
func (s *Store) Consistent() error {
	if s.Acknowledged != "" && (!s.Asynchronous || s.Durability != "") {
		return field("acknowledged", errors.New("a rule for a store that is asynchronous and has no other durability"))
	}
	return nil
}

// Durability is where a change is when the leader of a store answers it. The words are those of
// PostgreSQL's synchronous_commit. A plan with a loss of power needs flushed.
type Durability string

// The modes of durability.
const (
	Flushed     Durability = "flushed"      // on the disks of a majority
	RemoteWrite Durability = "remote-write" // on the leader's disk, and in the memory of the machines of a majority
	Off         Durability = "off"          // in the memory of the leader's process, for up to the commit time: a crash loses it
)

// Forgets reports whether a new leader can lack changes that the last one has answered.
func (s *Store) Forgets() bool { return s.Asynchronous || s.Durability == Off }

func (s *Store) String() string {
	what := "a replicated store"
	if s.Asynchronous {
		what = fmt.Sprintf("a store whose replicas lag by %v", s.Commit.Range)
	}
	switch s.Acknowledged {
	case AcknowledgedByOne:
		what += ", whose clients wait for one that is connected"
	case AcknowledgedByConnected:
		what += ", whose clients wait for all that are connected"
	case AcknowledgedByCached:
		what += ", whose clients wait for as many as were connected at first"
	}
	if s.Durability != "" {
		what += fmt.Sprintf(" with durability %s", s.Durability)
	}
	return what
}

// EachDistribution calls do with every distribution of the setting, wherever
// it stands, and the path that leads to it, until one call returns an error.
// That error is returned as a [FieldError] with the path in front.
func (s *Setting) EachDistribution(do func(*Distribution) error) error {
	return form.Walk(s, func(_ string, v reflect.Value) (bool, error) {
		if v.Type() == reflect.TypeFor[Distribution]() {
			return true, do(v.Addr().Interface().(*Distribution))
		}
		return false, nil
	})
}

// Ready returns the setting with the tables of all its distributions made, for
// worlds that are opened again and again. It shares nothing with the setting that
// could be written to there, and must not be written to itself.
func (s Setting) Ready() Setting {
	ready := s.Clone()
	_ = ready.EachDistribution(func(d *Distribution) error {
		d.table = d.Table()
		return nil
	})
	return ready
}

// Clone returns a copy of the setting. It shares nothing with it but lists of numbers,
// durations and words.
func (s Setting) Clone() Setting { return form.Clone(s) }

// validateNumbers returns an error for a number of a node or a client that the setting does not have,
// or that a list names twice. 0 is no number of any, and an empty list means all or none.
func (s Setting) validateNumbers(value any) error {
	return form.Walk(value, func(name string, v reflect.Value) (bool, error) {
		what := strings.TrimSuffix(name, "s")
		most := s.Nodes
		switch what {
		case "client":
			most = s.Clients
		case "node":
		default:
			return false, nil
		}
		switch n := v.Interface().(type) {
		case int:
			if n != 0 && n != AllNodes {
				return true, oneOf(what, n, most)
			}
		case []int:
			return true, someOf(what, n, most)
		}
		return false, nil
	})
}
