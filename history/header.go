package history

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Version is the version of the format that this package writes and reads.
const Version = 1

// Format names the format on the first line of a stored history.
const Format = "lockstorm-history"

// Header is what a checker must know of a run besides its events.
type Header struct {
	// Format is always "lockstorm-history".
	Format string `json:"format"`

	// Version is the version of the format: 1.
	Version int `json:"version"`

	// Scenario is the name of the scenario. The checker ignores it.
	Scenario string `json:"scenario,omitempty"`

	// Lock is the name of the lock. The checker ignores it.
	Lock string `json:"lock,omitempty"`

	// Backend is the world in which the run took place. The checker ignores it.
	Backend string `json:"backend,omitempty"`

	// Seed is the seed of the run. The checker ignores it.
	Seed uint64 `json:"seed"`

	// Nodes is the number of nodes, which are numbered from 1. At most [MaxNodes].
	Nodes int `json:"nodes"`

	// Clients is the number of clients, which are numbered from 1. At most [MaxClients].
	Clients int `json:"clients"`

	// LongestTTL is the longest time to live that any client requests.
	LongestTTL time.Duration `json:"longest_ttl"`

	// Allowance is the part of LongestTTL that the lock sets aside for clock errors.
	Allowance time.Duration `json:"allowance"`

	// UntilClock is the clock of the ends of validity (until). "file": that of the events' times. A
	// hold then ends when they reach its until. "client": each client's own. A hold then ends with
	// its lapse event, and the history has every lapse. By default it is "client" if the history has
	// a lapse event or a fault on a client's clock, otherwise "file".
	UntilClock UntilClock `json:"until_clock,omitempty"`

	// Keys says that the history records every change of the nodes' keys.
	Keys bool `json:"keys"`

	// Entries says that the history records every change of the entries that a lock keeps in a
	// store.
	Entries bool `json:"entries,omitempty"`

	// Watched says that changes of keys and entries were recorded when a watch reported them, and
	// took place before. Only what entries-seen events confirm is then judged by them.
	Watched bool `json:"watched,omitempty"`

	// Keepers is the number of nodes, from node 1 on, that keep a key of each hold. A
	// majority of them holds the lock. 0: all nodes; below 0: none, the lock is kept
	// elsewhere. From -1 to Nodes.
	Keepers int `json:"keepers,omitempty"`

	// Votes is the number of votes of the key on each node, node 1 first, if the lock is
	// not held by a majority: from 0, for a node that keeps none, to [MaxVotes]. More than
	// half of all votes hold the lock. Keepers is then 0.
	Votes []int `json:"votes,omitempty"`

	// Capacity is the number of permits of each resource: what is held at once must not exceed it. 0: one, so
	// that a hold excludes all others. At most [MaxCapacity].
	Capacity int `json:"capacity,omitempty"`

	// Quarantine is how long clients ignore the vote of a node after its server has started, by
	// their clocks, which may be wrong by half of what Allowance covers. 0: not at all.
	Quarantine time.Duration `json:"quarantine,omitempty"`

	// Bounds are the limits for liveness and contract.
	Bounds Bounds `json:"bounds"`
}

// UntilClock is the clock on which the ends of validity of a history are meant. The zero value leaves it
// to the events.
type UntilClock string

// The clocks.
const (
	FileClock   UntilClock = "file"   // that of the events' times
	ClientClock UntilClock = "client" // the client's own
)

// The largest numbers of nodes and clients of a history.
const (
	MaxNodes   = 64
	MaxClients = 100_000
)

// MaxCapacity is the largest number of permits of a resource.
const MaxCapacity = 1_000_000

// MaxVotes is the largest number of votes of a node.
const MaxVotes = 1_000_000

func (h Header) validate() error {
	switch {
	case h.Nodes < 1 || h.Nodes > MaxNodes:
		return fmt.Errorf("%d nodes: want 1 to %d", h.Nodes, MaxNodes)
	case h.Clients < 1 || h.Clients > MaxClients:
		return fmt.Errorf("%d clients: want 1 to %d", h.Clients, MaxClients)
	case h.LongestTTL < 0 || h.Allowance < 0:
		return fmt.Errorf("a longest TTL of %v and an allowance of %v: want neither below 0", h.LongestTTL, h.Allowance)
	case h.Capacity < 0 || h.Capacity > MaxCapacity:
		return fmt.Errorf("a capacity of %d: want 0 to %d", h.Capacity, MaxCapacity)
	case h.Quarantine < 0:
		return fmt.Errorf("a quarantine of %v: want none below 0", h.Quarantine)
	case h.UntilClock != "" && h.UntilClock != FileClock && h.UntilClock != ClientClock:
		return fmt.Errorf("unknown until_clock %q: want %q or %q", h.UntilClock, FileClock, ClientClock)
	case h.Keepers < -1 || h.Keepers > h.Nodes:
		return fmt.Errorf("%d keepers of %d nodes: want -1 (none) to %d", h.Keepers, h.Nodes, h.Nodes)
	}
	if err := h.validateVotes(); err != nil {
		return err
	}
	return h.Bounds.Validate()
}

func (h Header) validateVotes() error {
	switch {
	case h.Votes == nil:
		return nil
	case len(h.Votes) != h.Nodes || h.Keepers != 0:
		return fmt.Errorf("votes of %d nodes, and %d keepers: want those of all %d, and 0 keepers", len(h.Votes), h.Keepers, h.Nodes)
	case slices.Max(h.Votes) == 0:
		return errors.New("no node has a vote")
	}
	for i, votes := range h.Votes {
		if votes < 0 || votes > MaxVotes {
			return fmt.Errorf("node %d has %d votes: want 0 to %d", i+1, votes, MaxVotes)
		}
	}
	return nil
}

// Validate returns an error that names the first invalid bound.
func (b Bounds) Validate() error {
	v := reflect.ValueOf(b)
	for i := range v.NumField() {
		if v.Field(i).Int() < 0 {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			return fmt.Errorf("the bound of %s, %v, is negative", name, v.Field(i))
		}
	}
	return nil
}

// Combined returns bounds, each of which is what of returns for that here and that in other. name is
// the bound's name in a file. A duration is a number of nanoseconds.
func (b Bounds) Combined(other Bounds, of func(name string, here, there int64) int64) (all Bounds) {
	here, there, made := reflect.ValueOf(b), reflect.ValueOf(other), reflect.ValueOf(&all).Elem()
	for i := range made.NumField() {
		name, _, _ := strings.Cut(made.Type().Field(i).Tag.Get("json"), ",")
		made.Field(i).SetInt(of(name, here.Field(i).Int(), there.Field(i).Int()))
	}
	return all
}

// Bounds are the limits for the properties of liveness and contract: counts, and durations on the
// ground clock. None is negative. A property whose bound is 0 is not judged.
type Bounds struct {
	// Acquire is the longest time of one try to acquire, without the time in which the client
	// was paused.
	Acquire time.Duration `json:"acquire,omitempty" yaml:"acquire,omitempty" want:"0s.."`

	// Extend is the same for one extension.
	Extend time.Duration `json:"extend,omitempty" yaml:"extend,omitempty" want:"0s.."`

	// Release is the same for one release.
	Release time.Duration `json:"release,omitempty" yaml:"release,omitempty" want:"0s.."`

	// Cancel is the longest time for which an acquire, extend or release may go on after its context has ended, if no other
	// fault took place since one longest TTL before the call.
	Cancel time.Duration `json:"cancel,omitempty" yaml:"cancel,omitempty" want:"0s.."`

	// Tries is the number of tries within which a client that reaches a
	// majority of the nodes must succeed while nobody competes.
	Tries int `json:"tries,omitempty" yaml:"tries,omitempty" want:"0.."`

	// Grant is the longest time until some waiting client is granted the lock, after
	// faults have ended, nobody holds it and the longest TTL has passed.
	Grant time.Duration `json:"grant,omitempty" yaml:"grant,omitempty" want:"0s.."`

	// Free is the longest time for which nobody may be granted a free lock while a client waits for it and
	// no fault takes place. It is judged with Grant.
	Free time.Duration `json:"free,omitempty" yaml:"free,omitempty" want:"0s.."`

	// Refusals is how often a fair lock may refuse a client in a row while it is granted to others and no
	// fault takes place. It is judged with Grant. 0: the lock does not promise fairness.
	Refusals int `json:"refusals,omitempty" yaml:"refusals,omitempty" want:"0.."`

	// Cleanup is the longest time for which a reachable node may keep the key of a token that was
	// given up. It should be far below the TTL.
	Cleanup time.Duration `json:"cleanup,omitempty" yaml:"cleanup,omitempty" want:"0s.."`

	// Quorum is the longest time for which a release may go on after a quorum of the nodes, in reach of
	// the client since the call, has deleted the keys.
	Quorum time.Duration `json:"quorum,omitempty" yaml:"quorum,omitempty" want:"0s.."`

	// Renew is the longest time for which a lock that extends its holds by itself leaves one without:
	// from the grant, or the return of an extension, to the next call of extend or to the hold's end.
	Renew time.Duration `json:"renew,omitempty" yaml:"renew,omitempty" want:"0s.."`

	// Notice is the longest time until a running holder must learn that its hold is over: from
	// the end of the TTL, counted on the ground clock from when the lock read its own
	// clock for it, or from when a paused client resumed. Of a hold without an end: as Loss.
	Notice time.Duration `json:"notice,omitempty" yaml:"notice,omitempty" want:"0s.."`

	// Loss is how long a holder without an end may work on when one longest TTL has passed since its keys were gone from a
	// quorum. A Notice takes precedence.
	Loss time.Duration `json:"loss,omitempty" yaml:"loss,omitempty" want:"0s.."`
}

// Permits is the number of permits of each resource.
func (h *Header) Permits() int { return max(h.Capacity, 1) }

// Electorate says whose keys hold a lock: the nodes that vote, and the number of votes of each.
// More than half of the votes hold it. It follows from the header alone and shares no
// code with locks. A lock that keeps nothing on the nodes has no voters.
type Electorate struct {
	Voters  uint64 // one bit a node, the lowest being node 1
	Weights []int  // votes by node, from 0; nil: one each
	All     int    // votes
}

// Electorate returns the electorate of the lock.
func (h Header) Electorate() Electorate {
	switch {
	case h.Votes != nil:
		return weighted(h.Votes)
	case h.Keepers < 0:
		return Electorate{}
	case h.Keepers == 0:
		return Alike(h.Nodes)
	}
	return Alike(h.Keepers)
}

// Alike is the first n nodes, with one vote each.
func Alike(n int) Electorate { return Electorate{Voters: 1<<n - 1, All: n} }

func weighted(votes []int) Electorate {
	e := Electorate{Weights: votes}
	for i, v := range votes {
		if v > 0 {
			e.Voters |= 1 << i
			e.All += v
		}
	}
	return e
}

// None reports whether the lock keeps nothing on the nodes.
func (e Electorate) None() bool { return e.Voters == 0 }

// Needed is the smallest number of votes that holds the lock.
func (e Electorate) Needed() int { return e.All/2 + 1 }

// Count returns the votes of a set of nodes, one bit per node as in Voters.
func (e Electorate) Count(nodes uint64) int {
	nodes &= e.Voters
	if e.Weights == nil {
		return bits.OnesCount64(nodes)
	}
	sum := 0
	for ; nodes != 0; nodes &= nodes - 1 {
		sum += e.Weights[bits.TrailingZeros64(nodes)]
	}
	return sum
}
